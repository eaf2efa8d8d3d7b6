/**
 * Runs a user's command for an alert: by a shell, with the alert on its standard input and nothing
 * in its arguments or environment. It is ended with all that it started after a time.
 */
import { spawn } from 'node:child_process';
import { failure } from '../../shared/errors/errors.ts';
import { escapeControls } from '../../shared/words/printable.ts';

/** Characters of what it prints to stderr that an error shows: the last ones. */
const TAIL = 300;

/**
 * Resolves once the command has ended with 0.
 * @param signal ends it
 * @throws GradwireError `ALERT_NOT_DELIVERED` (rejects)
 */
export async function runCommand(
  command: string,
  input: string,
  signal: AbortSignal,
): Promise<void> {
  const isWindows = process.platform === 'win32';
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    windowsHide: true,
    // A group of its own, which is ended as a whole.
    detached: !isWindows,
  });
  const end = (): void => {
    if (child.pid === undefined) return;
    try {
      if (isWindows) child.kill();
      else process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  signal.addEventListener('abort', end);
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL);
  });
  // A command that reads nothing has closed its end.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${input}\n`);
  try {
    const { promise, reject, resolve } = Promise.withResolvers<string | undefined>();
    child.once('error', reject);
    // What it left in the background may keep its stderr open.
    child.once('exit', (code, by) => {
      resolve(code === 0 ? undefined : `ended with ${code ?? by ?? 'an error'}`);
    });
    const fault = await promise;
    if (signal.aborted) throw notDelivered('took longer than 10 s', tail);
    if (fault !== undefined) throw notDelivered(fault, tail);
  } finally {
    signal.removeEventListener('abort', end);
    child.stderr.destroy();
  }
}

const notDelivered = (fault: string, tail: string): Error =>
  failure(
    'ALERT_NOT_DELIVERED',
    `the command for alerts ${fault}` +
      (tail.trim() === '' ? '' : `: ${escapeControls(tail.trim())}`),
    { place: 'notify.command', next: 'Run it by hand, or correct it in the settings.' },
  );
