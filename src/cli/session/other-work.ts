/**
 * The share of this computer that work other than ours takes: the time in which its processors
 * were busy, without the time of this command, of the supervisor and of all processes under
 * it. Times that runs measure mean something only where it is little.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { processNumbers, processTime } from '../../shared/machines/proc-texts.ts';

/** The time for which the computer is watched before a run. */
const BEFORE_MS = 250;

interface Sample {
  /** Times of all processors together, in milliseconds. */
  readonly busy: number;
  readonly total: number;
  /** Processor time of our processes, in milliseconds. */
  readonly ours: number;
}

/**
 * Starts to watch, a moment before a run.
 * @param supervisor its process, if it runs already
 * @returns a function that gives the share of the processors' time, 0 to 1, that other work
 * took: before the run or during it, whichever was more; undefined where the system does
 * not say
 */
export async function watchOtherWork(
  supervisor: () => number | undefined,
): Promise<() => number | undefined> {
  const first = sample(supervisor());
  await pause(BEFORE_MS);
  const begin = sample(supervisor());
  return () => {
    const end = sample(supervisor());
    if (first === undefined || begin === undefined || end === undefined) {
      return undefined;
    }
    return Math.max(shareBetween(first, begin), shareBetween(begin, end));
  };
}

function shareBetween(from: Sample, to: Sample): number {
  const total = to.total - from.total;
  if (total <= 0) return 0;
  const others = to.busy - from.busy - (to.ours - from.ours);
  return Math.min(1, Math.max(0, others / total));
}

function sample(supervisor: number | undefined): Sample | undefined {
  if (process.platform !== 'linux') return undefined;
  let [busy, total] = [0, 0];
  for (const { times } of cpus()) {
    const working = times.user + times.nice + times.sys + times.irq;
    busy += working;
    total += working + times.idle;
  }
  const { system, user } = process.cpuUsage();
  const ours = (system + user) / 1000;
  return {
    busy,
    total,
    ours: ours + (supervisor === undefined ? 0 : timeBeneath(supervisor)),
  };
}

/**
 * Processor time of a process and all beneath it, in milliseconds, those that have ended
 * included. Linux only.
 */
export function timeBeneath(root: number): number {
  const parents = new Map<number, number>();
  const times = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const numbers = numbersOf(pid);
    if (numbers === undefined) continue;
    parents.set(pid, numbers[0]!);
    times.set(pid, processTime(numbers));
  }
  let sum = 0;
  for (const [pid, time] of times) {
    let above: number | undefined = pid;
    while (above !== undefined && above !== root) above = parents.get(above);
    if (above === root) sum += time;
  }
  return sum;
}

/** Numbers of a process; undefined if it has ended. */
function numbersOf(pid: number): readonly number[] | undefined {
  try {
    return processNumbers(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}
