/**
 * The constants that a run's collectives are chosen by: what was measured within a node, and
 * of the links between its nodes, of which the slowest count. A collective ends with its last
 * rank, and a ring passes the link of the longest latency as well as that of the least
 * bandwidth: each is the worst of all.
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
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { KnownNode, LinkTable } from '../store/link-table.ts';
import { assignRanks } from '../../shared/rank-assignment.ts';

export interface Measured {
  /** Of this computer, if it was. */
  readonly profile: NetworkProfile | undefined;
  /** The slowest link between the run's nodes; undefined unless all were measured. */
  readonly links: LinkCost | undefined;
}

/** @returns undefined where nothing was measured that says something of the run */
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
 * Links among nodes as they are now, the slowest of them; undefined with fewer than two
 * nodes, or where the link of any pair was not measured.
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

/** By this computer's profile, if it has one, for as many ranks as the fullest node has. */
function withinNodes(
  nodes: readonly string[],
  ranks: number,
  profile: NetworkProfile | undefined,
): NetworkCost {
  if (profile === undefined) return LOOPBACK;
  const fullest = Math.max(
    ...assignRanks(ranks, nodes).map(([, share]) => share.length),
  );
  // Collectives were timed on one node: of several they say nothing.
  return { ...networkCostOf(profile, fullest), timed: undefined };
}
