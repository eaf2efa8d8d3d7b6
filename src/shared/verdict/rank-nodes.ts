/** The machine of each rank of a run, and its GPU there, as the page names them. */
import { machineName } from '../machines/machine-names.ts';
import { rankProcesses } from '../records/rank-places.ts';
import type { RunEvent } from '../records/record-kinds.ts';

/**
 * Returns machines by rank; empty if it is obvious: one machine has all ranks, and no cluster
 * chose it.
 * @param machines of the run, as its spec names them
 */
export function rankNodes(
  events: readonly RunEvent[],
  machines: readonly string[] = [],
): ReadonlyMap<number, string> {
  const nodes = new Map(
    rankProcesses(events).map(({ rank, node }) => [rank, machineName(node, machines)]),
  );
  const isAllotted = events.some(({ type }) => type === 'allocated');
  return isAllotted || new Set(nodes.values()).size > 1 ? nodes : new Map();
}

/** `rank 2 on box`, or `rank 2` if the machine is obvious. */
export function rankTitle(rank: number, nodes: ReadonlyMap<number, string>): string {
  const node = nodes.get(rank);
  return node === undefined ? `rank ${rank}` : `rank ${rank} on ${node}`;
}

/** A rank's GPU. */
export interface RankGpu {
  readonly device: string;
  /** The GPU's PCI bus id, as nvidia-smi prints it. */
  readonly bus: string;
}

/** Returns GPUs by rank; without ranks on a CPU, and GPUs whose drivers state no bus id. */
export function rankGpus(events: readonly RunEvent[]): ReadonlyMap<number, RankGpu> {
  return new Map(
    rankProcesses(events).flatMap(({ rank, device, bus }) =>
      device === undefined || bus === undefined ? [] : [[rank, { device, bus }]],
    ),
  );
}

/** `3B:00.0`: without the PCI domain where that is 0, as on nearly all machines. */
export const shortBus = (bus: string): string => bus.replace(/^0+:/, '');
