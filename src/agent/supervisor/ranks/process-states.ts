/** States of processes, and the processes that another one has started. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

const PS_MS = 2000;

/** `T`: stopped by a signal; `t`: by a debugger. */
const isSuspended = (state: string | undefined): boolean =>
  state?.startsWith('T') === true || state?.startsWith('t') === true;

/** Returns the processes that are suspended. */
export async function suspendedAmong(
  pids: readonly number[],
): Promise<ReadonlySet<number>> {
  const states = await statesOf(pids);
  return new Set(pids.filter((pid) => isSuspended(states.get(pid))));
}

/** The processes that a process has started, and those that these have; on Linux. */
export async function startedBy(pid: number): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const children = await childrenOf(pid);
  const further = await Promise.all(children.map(startedBy));
  return [...children, ...further.flat()];
}

/** Each thread has its own list. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const lists = await Promise.all(
      threads.map((thread) => childrenOfThread(pid, thread)),
    );
    return lists.flat();
  } catch {
    return []; // it has ended
  }
}

async function childrenOfThread(
  pid: number,
  thread: string,
): Promise<readonly number[]> {
  try {
    const list = await readFile(`/proc/${pid}/task/${thread}/children`, 'latin1');
    return list.split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // this thread has ended, or the kernel keeps no such list
  }
}

/** The states of processes, as `ps` shows them; a process that is gone has none. */
async function statesOf(
  pids: readonly number[],
): Promise<ReadonlyMap<number, string | undefined>> {
  if (pids.length === 0) return new Map();
  if (process.platform === 'linux') {
    const states = await Promise.all(
      pids.map(async (pid) => [pid, await stateOf(pid)] as const),
    );
    return new Map(states);
  }
  if (process.platform === 'win32') return new Map();
  return await statesByPs(pids);
}

async function stateOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // PID (NAME) STATE …: a name may contain parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2)[0];
  } catch {
    return undefined; // it has ended
  }
}

function statesByPs(pids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  return new Promise((resolve) => {
    const args = ['-o', 'pid=,state=', '-p', pids.join(',')];
    execFile('ps', args, { timeout: PS_MS }, (_, stdout) => {
      // It fails if one of them has ended, and lists the others.
      const rows = stdout.trim().split('\n');
      const pairs = rows.map((row) => row.trim().split(/\s+/) as [string, string]);
      resolve(new Map(pairs.map(([pid, state]) => [Number(pid), state])));
    });
  });
}
