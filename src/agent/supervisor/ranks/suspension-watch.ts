/**
 * Ranks whose processes are suspended (SIGSTOP, Ctrl-Z, a debugger). Ranks name a suspended
 * peer that they wait for; where all ranks that could say so are suspended, or there is only
 * one, this does. It looks only at ranks that have reported nothing since its last look.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Notice } from '../../../shared/records/notice.ts';

const LOOK_MS = 2000;

export interface SuspensionWatchOptions {
  /** The processes of ranks on this machine, by rank. */
  readonly processes: () => ReadonlyMap<number, number>;
  readonly told: (notice: Notice) => void;
}

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #heard = new Set<number>();
  /** Ranks that were suspended at the last look. */
  #suspended = '';
  #closed = false;

  constructor(options: SuspensionWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** The rank has reported something. */
  heard(rank: number): void {
    this.#heard.add(rank);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const all = [...this.#options.processes()];
    const silent = all.filter(([rank]) => !this.#heard.has(rank));
    this.#heard.clear();
    let suspended = await suspendedOf(silent);
    // Its last report may still have come from a rank that is suspended as well.
    if (suspended.length > 0) suspended = await suspendedOf(all);
    const seen = suspended.map(([, pid]) => pid).join(' ');
    if (this.#closed || seen === this.#suspended) return;
    this.#suspended = seen;
    this.#options.told(seen === '' ? CONTINUED : noticeOf(suspended));
  }
}

const CONTINUED: Notice = {
  level: 'info',
  code: 'RANKS_CONTINUED',
  message: 'no rank is suspended any more',
};

function noticeOf(suspended: readonly RankPid[]): Notice {
  const ranks = suspended.map(([rank]) => rank).join(', ');
  const pids = suspended.map(([, pid]) => pid);
  const who =
    suspended.length === 1
      ? `rank ${ranks} (process ${pids[0]}) is`
      : `ranks ${ranks} (processes ${pids.join(', ')}) are`;
  return {
    level: 'warning',
    code: 'RANKS_SUSPENDED',
    message:
      `${who} suspended: kill -CONT ${pids.join(' ')} continues the run; a stop continues ` +
      'and ends it',
  };
}

type RankPid = readonly [rank: number, pid: number];

async function suspendedOf(ranks: readonly RankPid[]): Promise<readonly RankPid[]> {
  const states = await statesOf(ranks.map(([, pid]) => pid));
  return ranks.filter(([, pid]) => isSuspended(states.get(pid)));
}

/** `T`: stopped by a signal; `t`: by a debugger. */
const isSuspended = (state: string | undefined): boolean =>
  state?.startsWith('T') === true || state?.startsWith('t') === true;

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
    execFile('ps', args, { timeout: LOOK_MS }, (_, stdout) => {
      // It fails if one of them has ended, and lists the others.
      const rows = stdout.trim().split('\n');
      const pairs = rows.map((row) => row.trim().split(/\s+/) as [string, string]);
      resolve(new Map(pairs.map(([pid, state]) => [Number(pid), state])));
    });
  });
}
