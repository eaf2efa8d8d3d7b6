/**
 * A clock that is ahead of this machine's, for one process and its children: a time namespace.
 * It has moments since the start, by which durations are taken; dates stay as they are.
 * Linux, root, util-linux's `unshare`.
 */
import { execFileSync } from 'node:child_process';

/**
 * What to put before a command so that it has such a clock.
 * @param seconds how far it is ahead
 */
export const clockAhead = (seconds: number): readonly string[] => [
  ...[
    'unshare',
    '--time',
    '--monotonic',
    String(seconds),
    '--boottime',
    String(seconds),
  ],
  // Who kills the command kills what it started.
  ...['--fork', '--kill-child', '--'],
];

/** Why there can be none here, or undefined. */
export function clocksMissing(): string | undefined {
  if (process.platform !== 'linux') return 'time namespaces are Linux';
  if (process.getuid?.() !== 0) return 'time namespaces need root';
  const [command, ...args] = clockAhead(1);
  try {
    execFileSync(command!, [...args, 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'the system refuses time namespaces';
  }
}
