/**
 * The Python of lint and tests: a virtual environment in `.venv/`, made with the system's python3
 * and pip from the pinned lists in `python/requirements/`. It is made again only when a list or the
 * interpreter changes. With PyTorch it takes 1 GB; the part for lint alone, 100 MB.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * `lint` has ruff and mypy, `tests` PyTorch and NumPy, `frameworks` trainers of others upon it, `readers` what
 * opens exports (soak).
 */
export type PythonPart = 'lint' | 'tests' | 'frameworks' | 'readers';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, '.venv');
const binaries = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');

export const pythonFile = path.join(binaries, 'python');

const listOf = (part: PythonPart): string =>
  path.join(root, `python/requirements/${part}.txt`);
const stampOf = (part: PythonPart): string => path.join(folder, `installed-${part}`);

/** Whether a part is there as its list wants it. */
export function hasPython(part: PythonPart): boolean {
  const stamp = stampOf(part);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted(part);
}

/**
 * Makes a part unless it is there. Without python3 or a package index it says what is left out.
 * @returns whether it is there
 * @throws if it is not and `CI` is set
 */
export function ensurePython(part: PythonPart, leftOut: string): boolean {
  if (hasPython(part) && starts()) return true;
  console.log(`installing what Python needs for ${part} into .venv`);
  const problem = make(part);
  if (problem === undefined) {
    writeFileSync(stampOf(part), wanted(part));
    return true;
  }
  if (process.env['CI']) throw new Error(`${problem}: ${leftOut}`);
  console.log(`${problem}: ${leftOut}`);
  return false;
}

function wanted(part: PythonPart): string {
  return createHash('sha256')
    .update(readFileSync(listOf(part)))
    .digest('hex');
}

/** Whether the environment's interpreter is still on the machine. */
const starts = (): boolean =>
  spawnSync(pythonFile, ['--version'], { stdio: 'ignore' }).status === 0;

/** @returns why it could not be made */
function make(part: PythonPart): string | undefined {
  if (!starts()) {
    rmSync(folder, { recursive: true, force: true });
    const made = said('python3', ['-m', 'venv', folder]);
    if (made.status !== 0) return `python3 cannot make .venv${lastLine(made)}`;
  }
  rmSync(stampOf(part), { force: true });
  // Twice quiet: warnings are about the index, and errors are shown.
  const install = ['-m', 'pip', 'install', '-qq', '--disable-pip-version-check'];
  const installed = said(pythonFile, [...install, '-r', listOf(part)]);
  return installed.status === 0
    ? undefined
    : `pip cannot install python/requirements/${part}.txt${lastLine(installed)}`;
}

const said = (command: string, args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { encoding: 'utf8', timeout: 1_800_000 });

function lastLine({ error, stderr }: SpawnSyncReturns<string>): string {
  const line = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : ` (${line})`;
}
