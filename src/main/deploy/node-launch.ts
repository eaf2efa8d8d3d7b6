/**
 * The start of our Node on a machine. A plain `sh` does it, whatever the login shell is: one
 * that is restricted runs no program by its path.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { printable } from '../ssh/ssh-errors.ts';
import { placeOf } from '../ssh/target.ts';
import { shellQuoted } from '../../shared/words/shell-word.ts';
import { BASE, type Agent } from './installed.ts';
import { BEFORE_NODE } from './node-environment.ts';

/** A command for any login shell that runs the agent's `attach` in the home directory. */
export function attachCommand(
  { node, agent }: Agent,
  options: readonly string[],
): string {
  const program = [node, `${BASE}/agents/${agent}/attach.js`, ...options].join(' ');
  return `sh -c ${shellQuoted(`${BEFORE_NODE}; cd || exit 1; exec ${program}`)}`;
}

/**
 * Starts the agent once, to say its version: only then is it known that its Node runs there.
 * @throws GradwireError `NODE_UNUSABLE`
 */
export async function assertStarts(
  connection: RemoteConnection,
  { node, agent }: Agent,
  signal?: AbortSignal,
): Promise<void> {
  const script = `${BEFORE_NODE}; cd "$HOME" && exec "$node" "$file" --version`;
  const file = `${BASE}/agents/${agent}/attach.js`;
  const { code, stderr } = await runScript(connection, script, {
    variables: { node, file },
    name: 'the first start of Node',
    signal,
  });
  if (code !== 0) throw unusable(connection, stderr, code);
}

function unusable(
  { target }: RemoteConnection,
  stderr: string,
  code: number | null,
): GradwireError {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const said = printable(lines.slice(0, 3).join(' | ')).slice(0, 300);
  return failure(
    'NODE_UNUSABLE',
    `the deployed Node does not start there: ${said || `it ended with code ${String(code)}`}`,
    { place: placeOf(target), next: nextStep(stderr, code) },
  );
}

/** Advises by what the loader, the shell or V8 said. */
function nextStep(stderr: string, code: number | null): string {
  if (/version `?(GLIBC|GLIBCXX|CXXABI)/.test(stderr)) {
    return 'Its system libraries are too old for Node 24: use a machine with glibc 2.28 or newer (RHEL 8, Debian 10, Ubuntu 20.04), or put a Node 24 that runs there on its PATH.';
  }
  if (/shared librar/i.test(stderr)) {
    return 'Have that library installed there: libstdc++ comes with gcc (libstdc++6, libstdc++).';
  }
  if (/out of memory|cannot allocate|failed to reserve|mmap/i.test(stderr)) {
    return 'Raise the limit of address space there (ulimit -v): start files or administrators set it.';
  }
  if (/permission denied|not permitted/i.test(stderr) || code === 126) {
    return 'Programs may not be run from that home: it may be mounted noexec, or a security module forbids it. Ask the administrator.';
  }
  if (/exec format|cannot execute binary/i.test(stderr)) {
    return 'Its processor is another one than it says. Tell whoever gave you Gradwire.';
  }
  return 'Start it there by hand to see why: ~/.gradwire/runtimes/*/bin/node --version.';
}
