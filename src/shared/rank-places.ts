/** The current machine of each rank of a run, from the run's events. */
import { LOCAL_NODE } from './node-entry.ts';
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

/** This computer in texts. */
export const HERE = 'this computer';

/**
 * A machine's name in texts. Records have this computer's host name, which may be another
 * machine's too.
 * @param nodes the machines of the run, as its spec names them
 */
export function machineName(node: string, nodes: readonly string[]): string {
  const isHere = node === LOCAL_NODE || !nodes.includes(node);
  return isHere && nodes.includes(LOCAL_NODE) ? HERE : node;
}
