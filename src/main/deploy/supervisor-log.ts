/** The last lines of a supervisor's log: on a machine, or on this computer. */
import { open } from 'node:fs/promises';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { SupervisorLog } from '../../shared/machines/node-status.ts';
import { escapeControls } from '../../shared/words/printable.ts';
import type { Home } from '../home/home.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { placeOf } from '../ssh/target.ts';
import { BASE } from './installed.ts';

/** Enough for any number of lines that is shown. */
const MOST_BYTES = 2 ** 17;

const SCRIPT = `
file="${BASE}/nodes/$(uname -n)/supervisor.log"
printf '%s\\n' "$file"
cd "$HOME" || exit 1
[ -e "$file" ] || exit 3
tail -c ${MOST_BYTES} "$file"
`;

/** @throws GradwireError `LOG_UNREADABLE` and those of `runScript` */
export async function readLog(
  connection: RemoteConnection,
  lines: number,
): Promise<SupervisorLog> {
  const { code, stdout, stderr } = await runScript(connection, SCRIPT, {
    name: 'reading the log',
  });
  const end = stdout.indexOf('\n');
  const file = `~/${stdout.slice(0, end)}`;
  if (code === 3) return { file };
  if (code !== 0) {
    throw failure('LOG_UNREADABLE', `${file} cannot be read: ${stderr.trim()}`, {
      place: placeOf(connection.target),
      next: 'Check who owns it.',
    });
  }
  return { file, lines: lastLines(stdout.slice(end + 1), lines) };
}

/** @throws GradwireError `LOG_UNREADABLE` */
export async function readLocalLog(home: Home, lines: number): Promise<SupervisorLog> {
  const file = home.supervisorLog;
  try {
    await using log = await open(file);
    const { size } = await log.stat();
    const start = Math.max(0, size - MOST_BYTES);
    const { buffer, bytesRead } = await log.read({
      buffer: Buffer.alloc(size - start),
      position: start,
    });
    return { file, lines: lastLines(buffer.toString('utf8', 0, bytesRead), lines) };
  } catch (error) {
    if (error instanceof GradwireError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { file };
    throw failure('LOG_UNREADABLE', `${file} cannot be read: ${message}`, {
      next: 'Check who owns it.',
    });
  }
}

/** The last lines without control characters; the first may have lost its beginning. */
function lastLines(text: string, count: number): readonly string[] {
  const all = text.replace(/\n$/, '').split('\n');
  return text === '' ? [] : all.slice(-count).map(escapeControls);
}
