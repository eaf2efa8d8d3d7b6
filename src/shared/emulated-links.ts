/**
 * Which link of an emulated network ranks have to one another: that of their nodes' pair
 * where it has one, else the one that all have.
 */
import type {
  EmulatedLink,
  EmulatedNetwork,
  EmulatedPair,
} from './emulated-network.ts';
import { inputError } from './errors.ts';
import type { ExperimentSpec } from './experiment-spec.ts';
import { nearest } from './nearest.ts';

/** The pair of two nodes, or of one and itself, in either order. */
export const pairOf = (
  { pairs = [] }: EmulatedNetwork,
  a: string,
  b: string,
): EmulatedPair | undefined =>
  pairs.find(
    ({ between: [one, other] }) =>
      (one === a && other === b) || (one === b && other === a),
  );

/** The worst of the links that a run's ranks have, bandwidth and latency each by itself. */
export interface SlowestLinks {
  /** Undefined: no node has two ranks. */
  readonly within: EmulatedLink | undefined;
  /** Undefined: all ranks are on one node. */
  readonly between: EmulatedLink | undefined;
}

/** @param nodes those that have ranks, with how many */
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
        next: 'Leave one of them out.',
      });
    }
    seen.add(key);
  }
}
