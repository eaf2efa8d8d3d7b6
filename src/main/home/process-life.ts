import { readFileSync } from 'node:fs';

/**
 * Whether a process with this id runs, including other users' processes. One that has ended, but
 * whose parent has not taken note of it, still exists; it does not run.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isOver(pid);
}

/** Whether it is a zombie. Only Linux says so in a file. */
function isOver(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before the state may have any characters.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
