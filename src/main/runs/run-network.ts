/**
 * The constants for choosing a run's collectives: those measured within a node, and those of
 * the slowest links between its nodes. A collective ends with its last rank, and a ring
 * passes both the link with the longest latency and the one with the least bandwidth, so each
 * constant is the worst of all links.
 */
import { emulatedCosts } from '../../shared/cost-model/emulated-cost.ts';
import {
  LOOPBACK,
  type NetworkCost,
  type NodeLink as LinkCost,
} from '../../shared/cost-model/network-cost.ts';
import {
  networkCostOf,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { slowestLinks } from '../../shared/emulated-links.ts';
import { emulatedNetwork } from '../../shared/emulated-network.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/node-entry.ts';
import type { KnownNode, LinkTable } from '../store/link-table.ts';
import { assignRanks } from '../../shared/rank-assignment.ts';

export interface Measured {
  /** This computer's profile, if it was measured. */
  readonly profile: NetworkProfile | undefined;
  /** The slowest link between the run's nodes; undefined unless all were measured. */
  readonly links: LinkCost | undefined;
}

/** @returns undefined if no measurement applies to the run */
export function networkOf(
  { world, network }: Pick<ExperimentSpec, 'world' | 'network'>,
  ranks: number,
  { profile, links }: Measured,
): NetworkCost | undefined {
  const spread = Math.min(world.nodes.length, ranks) > 1;
  const measured = spread
    ? links && { ...withinNodes(world.nodes, ranks, profile), between: links }
    : profile && networkCostOf(profile, ranks);
  if (network === undefined) return measured;
  const nodes = assignRanks(ranks, world.nodes).map(
    ([node, share]): readonly [string, number] => [node, share.length],
  );
  return emulatedCosts(slowestLinks(emulatedNetwork(network), nodes), measured);
}

/**
 * This computer's profile, for a run in which it has ranks. It says nothing about other
 * machines: a run on those alone uses the constants of loopback.
 */
export const profileFor = (
  spec: Pick<ExperimentSpec, 'world'>,
  profile: NetworkProfile | undefined,
): NetworkProfile | undefined =>
  nodesOf(spec).includes(LOCAL_NODE) ? profile : undefined;

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
 * From this computer's profile, if it has one, for the number of ranks on the fullest node.
 */
function withinNodes(
  nodes: readonly string[],
  ranks: number,
  profile: NetworkProfile | undefined,
): NetworkCost {
  if (profile === undefined) return LOOPBACK;
  const fullest = Math.max(
    ...assignRanks(ranks, nodes).map(([, share]) => share.length),
  );
  // Collectives were timed on one node; the times say nothing about several.
  return { ...networkCostOf(profile, fullest), timed: undefined };
}
