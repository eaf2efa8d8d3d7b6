/**
 * Hierarchical sparse allreduce for nodes of several ranks each: the ranks of a node
 * split the range of indices into lanes (`ranks-by-node.ts`) and merge them, each lane's
 * stream is swapped and merged by recursive doubling between its counterparts on all
 * nodes, and the node's lanes are gathered within it. One stream of a node's union passes
 * its link, whereas flat algorithms send each rank's own stream, or its partners' unions
 * as often as there are ranks.
 *
 * Cost, with L ranks on a node, S lanes and u(r) the union of r ranks: within a node 2·α
 * + (k + u(P))·(L−1)/S·8β, between M nodes L₁' + Σ u(L·2^t)·8β' over log₂M rounds, L₁' =
 * log₂M·α', plus merging. A lane that reaches its δ continues dense.
 *
 * A lane is merged as a tree over the ranks of a node, then as one over the nodes; both
 * sides of a swap merge the same two streams: all ranks get the same bits. On one node it is
 * `ssar-split-allgather.ts` with a direct allgather, with one rank on each node it is
 * `ssar-recursive-doubling.ts`.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3, whose algorithms it composes.
 */
import {
  betweenNodes,
  sharingLink,
  burstSeconds,
  messageSeconds,
} from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import {
  assembledSeconds,
  entriesPerRank,
  mergedSeconds,
  partOf,
  mergedTreeSeconds,
  splitSeconds,
  unionBytes,
  unionOf,
  unitedPerRound,
} from './fill-in.ts';
import { foldedRanks } from './folding.ts';
import { ranksByNode, placeOnNode, onOneNode } from './ranks-by-node.ts';
import { partRanges, type ElementRange } from './partition.ts';
import { rankSubset } from './rank-subset.ts';
import {
  assembled,
  mergedTree,
  unframed,
  framed,
  streamBytes,
  streamCapacity,
  type Stream,
} from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';
import { mergeByDoubling } from './ssar-recursive-doubling.ts';

export const ssarHierarchical: CollectiveDefinition = {
  id: 'ssar-hierarchical',
  code: 12,
  title: 'Sparse hierarchical',
  summary: 'Streams merged within each machine, then one per machine between machines.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3, composed by machines',
  formula: '2·α + (k + u(P))·(L−1)/S·8β + log₂M·α′ + Σ u(L·2^t)·8β′',
  suits: 'Several machines with several ranks each.',
  takes: ['sparse'],
  forNodes: true,
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    const steps = stepsOf(shape);
    const { lanes, most, unions } = steps;
    const between = betweenNodes(network);
    const merging = unions.reduce((sum, united) => {
      const entries = unionOf(shape, united) / lanes;
      return sum + mergedSeconds(entries, entries, partOf(shape, lanes), network);
    }, 0);
    // If the ranks share the node's link, all lanes' bytes pass through it.
    const sharing = sharingLink(network, lanes);
    const passing = [...unions, ...steps.folds].reduce(
      (sum, united) =>
        sum + messageSeconds(between, sharing * unionBytes(shape, united, lanes)),
      0,
    );
    return (
      burstSeconds(network, most - 1, steps.contributed) +
      burstSeconds(network, most - 1, unionBytes(shape, ranks, lanes)) +
      passing +
      merging +
      splitSeconds(shape, network) +
      mergedTreeSeconds({ ...shape, ranks: most }, lanes, network) +
      assembledSeconds(shape, network)
    );
  },
  wireBytes: (shape) => {
    const { ranks } = shape;
    const { contributed, folds, lanes, most, unions } = stepsOf(shape);
    const swapped = [...unions, ...folds.slice(1)].reduce(
      (sum, united) => sum + unionBytes(shape, united, lanes),
      0,
    );
    return (most - 1) * (contributed + unionBytes(shape, ranks, lanes)) + swapped;
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    if (communicator.size === 1 && payload.kind === 'sparse') {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const { lanes, local, place, counterparts } = placeOnNode(communicator);
    const ranges = partRanges(payload.length, lanes);
    // Ranks beyond the lanes have an empty range at the end.
    const shares = local.map(
      (_, index) => ranges[index] ?? { start: payload.length, length: 0 },
    );
    const node = rankSubset(communicator, local, 'node');
    const parts: Stream[] = [];
    const exchanged = exchangeParts(node, payload, shares);
    // Other lanes may be finished while this rank's own is on the link, so their receives
    // are posted now.
    const arrivals = shares.slice(0, lanes).map(async (range, owner) => {
      if (owner !== place) parts[owner] = await receiveLane(node, owner, range);
    });
    const shareOwn = async (): Promise<void> => {
      const contributions = await exchanged;
      let own = communicator.reduce(() => mergedTree(node, contributions));
      if (place >= lanes) return;
      own = await mergeByDoubling(rankSubset(communicator, counterparts, 'lane'), own);
      parts[place] = own;
      await sendToAll(node, own);
    };
    await Promise.all([shareOwn(), ...arrivals]);
    return communicator.reduce(() => assembled(communicator, parts));
  },
};

/** A lane's sum, directly from its owner. */
async function receiveLane(
  node: Communicator,
  owner: number,
  range: ElementRange,
): Promise<Stream> {
  const region = await node.receiveSized(
    owner,
    streamCapacity(range.length, node.valueBytes),
    (bytes) => node.scratch(`lane of ${owner}`, bytes),
  );
  return node.reduce(() => unframed(node, region, range, owner));
}

async function sendToAll(node: Communicator, stream: Stream): Promise<void> {
  const { rank, size } = node;
  const region = framed(node, stream);
  const sends = Array.from({ length: size - 1 }, (_, step) =>
    node.send((rank + step + 1) % size, region),
  );
  await Promise.all(sends);
}

/** The quantities that the cost formula uses. */
interface Steps {
  readonly lanes: number;
  /** L of the largest node. */
  readonly most: number;
  /** Bytes of a rank's contribution to one lane. */
  readonly contributed: number;
  /** Ranks united in the streams that are swapped, by round. */
  readonly unions: readonly number[];
  /** Ranks united in the streams that are folded before the rounds and unfolded after them. */
  readonly folds: readonly number[];
}

function stepsOf(shape: ExchangeShape): Steps {
  const { ranks, length, places = onOneNode(ranks) } = shape;
  const { lanes, nodes } = ranksByNode(places);
  const each = ranks / nodes.length;
  const count = nodes.length;
  return {
    lanes,
    most: Math.max(...nodes.map((members) => members.length)),
    contributed: streamBytes(entriesPerRank(shape) / lanes, length / lanes, shape),
    unions: unitedPerRound({ ...shape, ranks: count }).map((united) => united * each),
    folds: foldedRanks(count) > 0 ? [each, ranks] : [],
  };
}
