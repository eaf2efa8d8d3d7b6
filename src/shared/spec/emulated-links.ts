/**
 * The link of an emulated network between two ranks: that of their nodes' pair if it has its
 * own, else the common one.
 */
import {
  emulatedNetwork,
  type EmulatedLink,
  type EmulatedNetwork,
  type EmulatedPair,
} from '../machines/emulated-network.ts';
import { formatBytes } from '../words/units.ts';
import { inputError } from '../errors/errors.ts';
import type { ExperimentSpec } from './experiment-spec.ts';
import { nearest } from '../words/nearest.ts';

/** The entry for a pair of nodes, or for a node and itself, in either order. */
export const pairOf = (
  { pairs = [] }: EmulatedNetwork,
  a: string,
  b: string,
): EmulatedPair | undefined =>
  pairs.find(
    ({ between: [one, other] }) =>
      (one === a && other === b) || (one === b && other === a),
  );

/** The worst bandwidth and the worst latency among the links of a run's ranks. */
export interface SlowestLinks {
  /** The worst of the links within a node; undefined if no node has two ranks. */
  readonly within: EmulatedLink | undefined;
  /** The worst of the links between nodes; undefined if all ranks are on one node. */
  readonly between: EmulatedLink | undefined;
}

/** @param nodes the nodes with ranks, and how many each has */
export function slowestLinks(
  network: EmulatedNetwork,
  nodes: readonly (readonly [string, number])[],
): SlowestLinks {
  const linkOf = (a: string, b: string): EmulatedLink =>
    pairOf(network, a, b) ?? network;
  return {
    within: slowest(
      nodes.filter(([, ranks]) => ranks > 1).map(([node]) => linkOf(node, node)),
    ),
    between: slowest(
      nodes.flatMap(([a], index) => nodes.slice(index + 1).map(([b]) => linkOf(a, b))),
    ),
  };
}

function slowest(links: readonly EmulatedLink[]): EmulatedLink | undefined {
  if (links.length === 0) return undefined;
  return {
    bandwidth: Math.min(...links.map(({ bandwidth }) => bandwidth)),
    latency: Math.max(...links.map(({ latency }) => latency)),
  };
}

/** Bandwidth × latency: what an emulated link keeps in memory for each peer. */
export const MOST_ON_ITS_WAY_BYTES = 64 * 2 ** 20;

/**
 * Refuses links of which more bytes are on their way than can be kept: they would be slower than they say.
 * @throws GradwireError `NETWORK_TOO_LONG`
 */
export function checkLinks({ network }: Pick<ExperimentSpec, 'network'>): void {
  if (network === undefined) return;
  const { pairs = [], ...common } = emulatedNetwork(network);
  const links = [common, ...pairs];
  for (const [index, { bandwidth, latency }] of links.entries()) {
    const bytes = (bandwidth / 8) * (latency / 1000);
    if (bytes <= MOST_ON_ITS_WAY_BYTES) continue;
    const onItsWay = `bandwidth × latency is ${formatBytes(bytes)}`;
    throw inputError(
      'NETWORK_TOO_LONG',
      `${onItsWay}, and an emulated link keeps at most ${formatBytes(MOST_ON_ITS_WAY_BYTES)}`,
      {
        place: index === 0 ? 'network' : `network.pairs[${index - 1}]`,
        next: 'Lower the bandwidth or the latency.',
      },
    );
  }
}

/** @throws GradwireError `NETWORK_NODE_UNKNOWN`, `NETWORK_PAIR_REPEATED` */
export function checkPairs({
  network,
  world: { nodes },
}: Pick<ExperimentSpec, 'network' | 'world'>): void {
  const seen = new Set<string>();
  for (const [index, { between }] of (network?.pairs ?? []).entries()) {
    const place = `network.pairs[${index}].between`;
    const unknown = between.find((name) => !nodes.includes(name));
    if (unknown !== undefined) {
      const suggestion = nearest(unknown, nodes);
      throw inputError(
        'NETWORK_NODE_UNKNOWN',
        `"${unknown}" is not one of the run’s machines`,
        {
          place,
          next:
            suggestion === undefined
              ? `Name machines of world.nodes: ${nodes.join(', ')}.`
              : `Did you mean "${suggestion}"?`,
        },
      );
    }
    const key = JSON.stringify(between.toSorted());
    if (seen.has(key)) {
      const [a, b] = between;
      const link = a === b ? `within "${a}"` : `between "${a}" and "${b}"`;
      throw inputError('NETWORK_PAIR_REPEATED', `the link ${link} is given twice`, {
        place,
        next: 'Remove one of them.',
      });
    }
    seen.add(key);
  }
}
