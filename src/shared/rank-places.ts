/** The current machine of each rank of a run, from the run's events. */
import type { RunRecord, StartedRecord } from './records.ts';

export type StartedProcess = StartedRecord['processes'][number];

/** By rank; ranks that resumed elsewhere are listed there. */
export function rankProcesses(
  events: readonly Exclude<RunRecord, { type: 'iteration' }>[],
): readonly StartedProcess[] {
  const newest = new Map<number, StartedProcess>();
  for (const event of events) {
    if (event.type !== 'started' && event.type !== 'restarted') continue;
    for (const process of event.processes) newest.set(process.rank, process);
  }
  return [...newest.values()].sort((a, b) => a.rank - b.rank);
}
