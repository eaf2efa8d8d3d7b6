/** On which machine each rank of a run is. */
import type { RunRecord } from '../../shared/records.ts';

/** By rank; empty where one machine has all of them, for then there is nothing to tell. */
export function rankNodes(
  events: readonly Exclude<RunRecord, { type: 'iteration' }>[],
): ReadonlyMap<number, string> {
  const nodes = new Map<number, string>();
  for (const event of events) {
    if (event.type !== 'started') continue;
    for (const { rank, node } of event.processes) nodes.set(rank, node);
  }
  return new Set(nodes.values()).size < 2 ? new Map() : nodes;
}

/** `rank 2 on box`, or `rank 2` where that goes without saying. */
export function rankTitle(rank: number, nodes: ReadonlyMap<number, string>): string {
  const node = nodes.get(rank);
  return node === undefined ? `rank ${rank}` : `rank ${rank} on ${node}`;
}
