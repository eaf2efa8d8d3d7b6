/** The machine of each rank of a run, as the page names it. */
import { rankProcesses } from '../../shared/rank-places.ts';
import type { RunEvent } from '../../shared/records.ts';

/**
 * By rank; empty if it is obvious: one machine has all ranks, and no cluster chose it.
 */
export function rankNodes(events: readonly RunEvent[]): ReadonlyMap<number, string> {
  const nodes = new Map(rankProcesses(events).map(({ rank, node }) => [rank, node]));
  const isAllotted = events.some(({ type }) => type === 'allocated');
  return isAllotted || new Set(nodes.values()).size > 1 ? nodes : new Map();
}

/** `rank 2 on box`, or `rank 2` if the machine is obvious. */
export function rankTitle(rank: number, nodes: ReadonlyMap<number, string>): string {
  const node = nodes.get(rank);
  return node === undefined ? `rank ${rank}` : `rank ${rank} on ${node}`;
}
