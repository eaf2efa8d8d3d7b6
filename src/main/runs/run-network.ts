/**
 * The constants for choosing a run's collectives: those measured within a node, and those of
 * the slowest links between its nodes. A collective ends with its last rank, and a ring
 * passes both the link with the longest latency and the one with the least bandwidth, so each
 * constant is the worst of all links.
 */
import { emulatedCosts } from '../../shared/cost-model/emulated-cost.ts';
import {
  LOOPBACK,
  messageSeconds,
  type NetworkCost,
  type LinkCost as LinkCost,
} from '../../shared/cost-model/network-cost.ts';
import {
  networkCostOf,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { slowestLinks } from '../../shared/spec/emulated-links.ts';
import { emulatedNetwork } from '../../shared/machines/emulated-network.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { FactTable } from '../store/fact-table.ts';
import type { KnownNode, LinkTable } from '../store/link-table.ts';
import { assignRanks } from '../../shared/machines/rank-assignment.ts';

/** Machines are compared by what a message of this size takes. */
const COMPARED_BYTES = 2 ** 16;

export interface Measured {
  /** Profiles of the run's nodes that were measured, by name. */
  readonly profiles: ReadonlyMap<string, NetworkProfile>;
  /** The slowest link between the run's nodes; undefined unless all were measured. */
  readonly links: LinkCost | undefined;
}

/** @returns undefined if no measurement applies to the run */
export function networkOf(
  { world, network }: Pick<ExperimentSpec, 'world' | 'network'>,
  ranks: number,
  { profiles, links }: Measured,
): NetworkCost | undefined {
  const spread = Math.min(world.nodes.length, ranks) > 1;
  const only = profiles.get(world.nodes[0]!);
  const measured = spread
    ? links && { ...withinNodes(world.nodes, ranks, profiles), between: links }
    : only && networkCostOf(only, ranks);
  if (network === undefined) return measured;
  const nodes = assignRanks(ranks, world.nodes).map(
    ([node, share]): readonly [string, number] => [node, share.length],
  );
  return emulatedCosts(slowestLinks(emulatedNetwork(network), nodes), measured);
}

/**
 * The profiles of a run's nodes: this computer's from its home, the others' from the store, where
 * `gradwire bench network --node` puts them.
 */
export function profilesOf(
  facts: FactTable,
  nodes: readonly KnownNode[],
  own: NetworkProfile | undefined,
): ReadonlyMap<string, NetworkProfile> {
  return new Map(
    nodes.flatMap((node): readonly (readonly [string, NetworkProfile])[] => {
      const profile = node.name === LOCAL_NODE ? own : facts.network(node);
      return profile === undefined ? [] : [[node.name, profile]];
    }),
  );
}

/**
 * The slowest link among these nodes; undefined with fewer than two nodes, or if any
 * pair was not measured.
 */
export function measuredLinks(
  table: LinkTable,
  nodes: readonly KnownNode[],
): LinkCost | undefined {
  const measures = table
    .among(nodes)
    .flatMap(({ measure }) => (measure === undefined ? [] : [measure]));
  const pairs = nodes.length * (nodes.length - 1);
  if (pairs === 0 || measures.length < pairs) return undefined;
  return {
    alpha: Math.max(...measures.map(({ alpha }) => alpha)),
    beta: Math.max(...measures.map(({ beta }) => beta)),
  };
}

/**
 * Costs within a machine: those of the slowest one that was measured, for its number of ranks.
 * If none was measured, those of loopback.
 */
function withinNodes(
  nodes: readonly string[],
  ranks: number,
  profiles: ReadonlyMap<string, NetworkProfile>,
): NetworkCost {
  const costs = assignRanks(ranks, nodes).flatMap(([name, share]) => {
    const profile = profiles.get(name);
    return profile === undefined ? [] : [networkCostOf(profile, share.length)];
  });
  if (costs.length === 0) return LOOPBACK;
  const slowest = costs.reduce((worst, cost) =>
    messageSeconds(cost, COMPARED_BYTES) > messageSeconds(worst, COMPARED_BYTES)
      ? cost
      : worst,
  );
  // Collectives were timed on one node; the times say nothing about several.
  return { ...slowest, timed: undefined };
}
