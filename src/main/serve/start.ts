/**
 * `npm start`: the desktop window if possible, otherwise the same app in a browser,
 * with one line that gives the reason, within 5 seconds.
 */
import { spawn } from 'node:child_process';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { sentErrorSchema } from '../../shared/protocol/sent-error.ts';
import { installationRoot } from '../home/installation.ts';
import {
  findElectron,
  installElectron,
  probeDownload,
  type ElectronState,
} from './electron-binary.ts';
import { serve } from './serve.ts';
import { chooseWindow } from './window-choice.ts';

interface StartOptions {
  /** Whether stdout gets a line of JSON once the app is up: `{ "window": true }`, or `serve`'s. */
  readonly json: boolean;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time for a signal of the terminal, which Electron gets as well, to end it. */
const OWN_END_MS = 1000;

/**
 * Resolves when the window or the server has ended; `process.exitCode` is the window's.
 * @throws GradwireError the reason why the app itself did not start, in either host
 */
export async function start({ json }: StartOptions): Promise<void> {
  const root = installationRoot();
  const reason = await openWindow(root, () => {
    if (json) process.stdout.write(`${JSON.stringify({ window: true })}\n`);
  });
  if (reason === undefined) return;
  process.stderr.write(
    `gradwire: cannot open a window (${reason}); serving to your browser.\n`,
  );
  await serve({ open: true, json });
}

/**
 * Shows the window and waits for its end, or returns why there was none.
 * @param opened called once it is there
 */
async function openWindow(
  root: string,
  opened: () => void,
): Promise<string | undefined> {
  const choice = chooseWindow({
    platform: process.platform,
    environment: process.env,
    user: process.getuid?.(),
    electron: findElectron(root),
  });
  if (choice.kind === 'serve') return choice.reason;
  if (choice.kind === 'installed') return await runWindow(choice.binary, root, opened);

  const downloaded = await download(choice);
  if (downloaded !== undefined) return downloaded;
  const electron = findElectron(root);
  if (electron.kind !== 'installed') return 'Electron’s installer left no binary';
  return await runWindow(electron.binary, root, opened);
}

async function download(
  missing: Extract<ElectronState, { kind: 'to-download' }>,
): Promise<string | undefined> {
  const probe = await probeDownload(missing.url);
  if (probe.kind === 'silent') {
    return `cannot download Electron: ${probe.reason}`;
  }
  process.stderr.write(
    `gradwire: downloading Electron ${missing.version} (once, about 100 MB).\n`,
  );
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, interrupt);
  try {
    const done = await installElectron(missing.installer, interrupted.signal);
    if (interrupted.signal.aborted) throw downloadInterrupted();
    return done ? undefined : 'Electron’s download did not finish';
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, interrupt);
  }
}

function downloadInterrupted(): GradwireError {
  return failure('DOWNLOAD_INTERRUPTED', 'the download of Electron was interrupted', {
    next: 'Start again, or set GRADWIRE_NO_WINDOW=1 to use the browser.',
  });
}

/**
 * Electron reports over its IPC channel that its window is open ('window'), or the app's
 * error (ErrorData). If it ends with neither and not with 0, it could not show a window
 * on this machine, for example because of a missing library or a display that does not
 * answer; unless it was told to end.
 */
async function runWindow(
  binary: string,
  root: string,
  opened: () => void,
): Promise<string | undefined> {
  const child = spawn(binary, [root], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  let shown = false;
  let failed: GradwireError | undefined;
  child.on('message', (message) => {
    if (message === 'window') {
      shown = true;
      opened();
    } else {
      const error = sentErrorSchema.safeParse(message).data;
      if (error !== undefined) failed = new GradwireError(error);
    }
  });
  let stopped = false;
  let reminder: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGTERM');
  };
  const stop = (signal: NodeJS.Signals): void => {
    stopped = true;
    if (signal === 'SIGTERM') end();
    // Always SIGTERM: Electron ends at once, and not cleanly, when one signal comes twice.
    else reminder ??= setTimeout(end, OWN_END_MS);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  try {
    const ended = await new Promise<string | number>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      // After `close` no more messages can arrive.
      child.once('close', (code, signal) => resolve(signal ?? code ?? 1));
    });
    if (stopped && !shown) {
      process.exitCode = 0;
      return undefined;
    }
    if (failed !== undefined) throw failed;
    if (!shown && ended !== 0) return `Electron did not start: ${ended}`;
    process.exitCode = typeof ended === 'number' ? ended : 1;
    return undefined;
  } finally {
    clearTimeout(reminder);
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}
