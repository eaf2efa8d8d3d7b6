/**
 * Ranks whose processes are suspended (SIGSTOP, Ctrl-Z, a debugger). Ranks name a suspended
 * peer that they wait for; where all ranks that could say so are suspended, or there is only
 * one, this does. So it does for a program that a rank has started, and what that has started.
 * It looks only at ranks that have reported nothing since its last look.
 */
import type { Notice } from '../../../shared/records/notice.ts';
import { startedBy, suspendedAmong } from './process-states.ts';

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
  /** Processes that were suspended at the last look. */
  #suspended: readonly Suspended[] = [];
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
    if (this.#closed) return;
    const before = this.#suspended;
    this.#suspended = suspended;
    const continued = without(before, suspended);
    if (continued.length > 0) this.#options.told(continuedNotice(continued));
    const isMore = without(suspended, before).length > 0;
    if (isMore) this.#options.told(suspendedNotice(suspended));
  }
}

const without = (
  these: readonly Suspended[],
  those: readonly Suspended[],
): readonly Suspended[] =>
  these.filter(({ pid }) => !those.some((other) => other.pid === pid));

/** The notice of all processes that are suspended here, once there are more. */
export function suspendedNotice(suspended: readonly Suspended[]): Notice {
  const pids = suspended.map(({ pid }) => pid);
  const { are, subject } = described(suspended);
  return {
    level: 'warning',
    code: 'RANKS_SUSPENDED',
    ...concerned(suspended),
    message:
      `${subject} ${are} suspended: kill -CONT ${pids.join(' ')} continues the run; ` +
      'a stop continues and ends it',
  };
}

/** The notice of processes that were suspended, and are no longer. */
export function continuedNotice(continued: readonly Suspended[]): Notice {
  const { are, subject } = described(continued);
  return {
    level: 'info',
    code: 'RANKS_CONTINUED',
    ...concerned(continued),
    message: `${subject} ${are} no longer suspended`,
  };
}

function concerned(
  processes: readonly Suspended[],
): Pick<Notice, 'programs' | 'ranks'> {
  const of = (isProgram: boolean): readonly number[] => [
    ...new Set(
      processes.filter((each) => each.isProgram === isProgram).map(({ rank }) => rank),
    ),
  ];
  return { ranks: of(false), programs: of(true) };
}

function described(processes: readonly Suspended[]): { subject: string; are: string } {
  const ranks = processes.filter(({ isProgram }) => !isProgram);
  const programs = processes.filter(({ isProgram }) => isProgram);
  const who = [
    ranks.length === 0
      ? ''
      : `${counted('rank', ranks)} (${counted('process', ranks)})`,
    programs.length === 0
      ? ''
      : `the program of ${counted('rank', programs)} (${counted('process', programs)})`,
  ].filter((part) => part !== '');
  const are = ranks.length > 1 || who.length > 1 ? 'are' : 'is';
  return { subject: who.join(' and '), are };
}

function counted(what: 'rank' | 'process', of: readonly Suspended[]): string {
  const numbers = new Set(of.map(({ pid, rank }) => (what === 'rank' ? rank : pid)));
  const plural = what === 'rank' ? 'ranks' : 'processes';
  return `${numbers.size === 1 ? what : plural} ${[...numbers].join(', ')}`;
}

interface Suspended {
  readonly rank: number;
  readonly pid: number;
  /** Whether it is the rank's program, or of it. */
  readonly isProgram: boolean;
}

async function suspendedOf(
  ranks: readonly (readonly [rank: number, pid: number])[],
): Promise<readonly Suspended[]> {
  const families = await Promise.all(
    ranks.map(async ([rank, pid]) => {
      const programs = await startedBy(pid);
      return [
        { rank, pid, isProgram: false },
        ...programs.map((child) => ({ rank, pid: child, isProgram: true })),
      ];
    }),
  );
  const all = families.flat();
  const suspended = await suspendedAmong(all.map(({ pid }) => pid));
  return all.filter(({ pid }) => suspended.has(pid));
}
