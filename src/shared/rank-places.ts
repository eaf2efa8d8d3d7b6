/** The current machine of each rank of a run, from the run's events. */
import type { RunRecord, StartedRecord } from './records.ts';

export type RankProcess = StartedRecord['processes'][number];

/** By rank; ranks that resumed elsewhere are listed there. */
export function rankProcesses(
  events: readonly Exclude<RunRecord, { type: 'iteration' }>[],
): readonly RankProcess[] {
  const newest = new Map<number, RankProcess>();
  for (const event of events) {
    if (event.type !== 'started' && event.type !== 'restarted') continue;
    for (const process of event.processes) newest.set(process.rank, process);
  }
  return [...newest.values()].sort((a, b) => a.rank - b.rank);
}
