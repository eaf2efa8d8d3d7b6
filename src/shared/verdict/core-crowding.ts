/**
 * Machines with more ranks than cores, and how much of a rank's time goes into waiting for a core
 * there: a mean-field estimate. Each of a machine's other ranks is runnable for the part of the
 * step in which it does not wait for messages, so that n = 1 + (R − 1)·busy/step are, and each
 * runs for C/n of the time on C cores.
 */
import { machineName } from '../machines/machine-names.ts';
import { rankProcesses } from '../records/rank-places.ts';
import type { RunEvent } from '../records/record-kinds.ts';

export interface Crowd {
  readonly machine: string;
  readonly ranks: number;
  readonly cores: number;
}

/**
 * The machine with most ranks per core, if it has more ranks than cores. Nodes that a cluster
 * allotted give each rank cores of its own.
 * @param nodes the machines of the run, as its spec names them
 * @param ownCores of this computer, for runs whose records do not say
 * @param perRank cores that a rank can keep busy at once
 */
export function crowdOf(
  events: readonly RunEvent[],
  nodes: readonly string[],
  ownCores?: number,
  perRank = 1,
): Crowd | undefined {
  if (events.some(({ type }) => type === 'allocated')) return undefined;
  const byMachine = Map.groupBy(rankProcesses(events), ({ node }) => node);
  let most: Crowd | undefined;
  for (const [node, processes] of byMachine) {
    const told = processes.flatMap((process) => process.cores ?? []);
    const known = told.length > 0 ? Math.max(...told) : undefined;
    const cores = known ?? (byMachine.size === 1 ? ownCores : undefined);
    const ranks = processes.length;
    if (cores === undefined || perRank * ranks <= cores) continue;
    if (most !== undefined && ranks / cores <= most.ranks / most.cores) continue;
    most = { machine: machineName(node, nodes), ranks, cores };
  }
  return most;
}

/** The part of a rank's time on a crowded machine in which it waits for a core, 0…1. */
export function coreWait({ cores, ranks }: Crowd, busy: number, step: number): number {
  if (!(step > 0)) return 0;
  const runnable = 1 + (ranks - 1) * Math.min(1, busy / step);
  return Math.max(0, 1 - cores / runnable);
}

/**
 * Milliseconds of a core that the mean rank has had, if its own time began with that of all others: as long as
 * more ranks are busy than there are cores, none of these is idle. Unlike `coreWait` it is never too much, whatever
 * ranks the scheduler favours; other machines count as if they were as crowded.
 * @param own the time that each rank took itself
 */
export function coreTime(own: Float64Array, { cores, ranks }: Crowd): number {
  const ended = own.toSorted();
  const most = (cores * ended.length) / ranks;
  let time = 0;
  let before = 0;
  for (const [at, end] of ended.entries()) {
    time += (end - before) * Math.min(ended.length - at, most);
    before = end;
  }
  return time / ended.length;
}
