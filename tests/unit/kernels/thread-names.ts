/** The kernel threads of this process, as the system counts them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';

/** Elsewhere no count is to be had. */
export const countsThreads = existsSync(TASKS);

export function kernelThreads(): number {
  return readdirSync(TASKS).filter((task) => nameOf(task).startsWith('kernels '))
    .length;
}

function nameOf(task: string): string {
  const file = `${TASKS}/${task}/comm`;
  // A thread may end between being listed and being read.
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
