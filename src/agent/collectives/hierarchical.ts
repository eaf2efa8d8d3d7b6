/**
 * Hierarchical allreduce for nodes of several ranks each: reduce-scatter within the node,
 * allreduce of each lane between its counterparts on all nodes, allgather within the node
 * (`ranks-by-node.ts` says what lanes are). 2(M−1)/M·N elements pass a node's link each
 * way, the minimum for M nodes, however many ranks share it: a ring of all ranks sends
 * 2(P−1)/P·N, and other flat algorithms several times that.
 *
 * Cost, with L ranks on a node and S lanes: within a node 2·α + 2(L−1)/S·N·4β, between
 * nodes 2·α' + 2(M−1)/M·N·4β', and ((L−1) + (M−1)/M)/S·N·γ.
 *
 * A lane is sent in chunks, each of which has a home: the node whose owner of the lane
 * combines the sums of all nodes and sends the result back. Chunks are pipelined through
 * all steps: while one is on the link, the next is summed within the node. Messages
 * between two ranks have a fixed order (data to be reduced first, then results), so that
 * receives can be posted ahead and data is stored directly in its place.
 *
 * A chunk is reduced in the order of ranks within a node, then in the order of nodes, by
 * one rank alone: all ranks get the same bits, as does every run with the same places. On
 * one node, or with one rank on each, it is the direct algorithm of
 * `scatter-reduce-allgather.ts` in chunks.
 *
 * Source: Thakur, Rabenseifner and Gropp (2005) for the parts, composed as in the hierarchical
 * allreduce of Jia et al., "Highly scalable deep learning training system with
 * mixed-precision" (2018); lanes and chunks are ours.
 */
import {
  betweenNodes,
  burstSeconds,
  sharingLink,
} from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import {
  ranksByNode,
  placeOnNode,
  onOneNode,
  type PlaceOnNode,
} from './ranks-by-node.ts';
import { part } from './partition.ts';
import { payloadVector, vectorRegion } from './payload-region.ts';
import { combineInOrder } from './reduce-scatter.ts';
import { RING_CHUNK_BYTES } from './ring.ts';

export const hierarchical: CollectiveDefinition = {
  id: 'hierarchical',
  code: 11,
  title: 'Hierarchical',
  summary:
    'Dense sums within each machine, then between machines: fewest bytes between them.',
  source: 'Thakur, Rabenseifner and Gropp (2005), IJHPCA 19(1), composed by machines',
  formula: '2·α + 2(L−1)/S·N·4β + 2·α′ + 2(M−1)/M·N·4β′ + ((L−1) + (M−1)/M)/S·N·γ',
  suits: 'Several machines with several ranks each.',
  takes: ['dense', 'scalars'],
  forNodes: true,
  cost: (shape, network) => {
    const { payloadBytes, ranks, valueBytes = 4 } = shape;
    const { nodes, lanes } = ranksByNode(shape.places ?? onOneNode(ranks));
    const most = Math.max(...nodes.map(({ length }) => length));
    const laneBytes = payloadBytes / lanes;
    const summed = most - 1 + (nodes.length - 1) / nodes.length;
    return (
      2 * burstSeconds(network, most - 1, laneBytes) +
      2 *
        burstSeconds(
          betweenNodes(network),
          nodes.length - 1,
          (sharingLink(network, lanes) * payloadBytes) / (lanes * nodes.length),
        ) +
      ((summed * laneBytes) / valueBytes) * network.gamma
    );
  },
  wireBytes: (shape) => {
    const sent = Array.from({ length: shape.ranks }, (_, rank) =>
      hierarchicalBytesSent(rank, shape),
    );
    return sent.reduce((most, bytes) => Math.max(most, bytes), 0);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { valueBytes } = communicator;
    const vector = payloadVector(payload, valueBytes);
    await new HierarchicalAllreduce(communicator, vector).run();
    return { form: 'dense', data: vectorRegion(vector, valueBytes) };
  },
};

/**
 * The number of results awaited ahead, each with the transport's deadline from then on.
 */
const WINDOW = 8;

/** A piece of a lane. */
interface Chunk {
  readonly vector: Vector;
  /** Index of the node that combines the sums of all nodes. */
  readonly home: number;
}

/**
 * Equally many chunks for each home, of at most `RING_CHUNK_BYTES`; empty ones are left
 * out.
 */
function chunksOf(lane: Vector, nodes: number, valueBytes: ValueBytes): Chunk[] {
  const bytes = valueBytes * lane.length;
  const count = nodes * Math.max(1, Math.ceil(bytes / (nodes * RING_CHUNK_BYTES)));
  return Array.from({ length: count }, (_, index) => ({
    vector: part(lane, count, index, valueBytes),
    home: index % nodes,
  })).filter(({ vector }) => vector.length > 0);
}

/** Messages of several ranks for some chunks: where each is stored, and when it has arrived. */
interface Arrival {
  /** Regions by index of the sender; this rank's own place is empty. */
  readonly regions: readonly Region[];
  readonly received: readonly (Promise<void> | undefined)[];
}

/** One rank's part in one exchange. */
class HierarchicalAllreduce {
  readonly #communicator: Communicator;
  readonly #position: PlaceOnNode;
  /** The chunks of each lane. */
  readonly #lanes: readonly (readonly Chunk[])[];
  /** The chunks of this rank's lane; none if it has no lane. */
  readonly #own: readonly Chunk[];
  readonly #sends: Promise<void>[] = [];

  constructor(communicator: Communicator, vector: Vector) {
    const { valueBytes } = communicator;
    const position = placeOnNode(communicator);
    this.#communicator = communicator;
    this.#position = position;
    this.#lanes = Array.from({ length: position.lanes }, (_, lane) => {
      const elements = part(vector, position.lanes, lane, valueBytes);
      return chunksOf(elements, position.nodes.length, valueBytes);
    });
    this.#own = this.#lanes[position.place] ?? [];
  }

  /**
   * Each rank first sends data to be reduced, then results, both in chunk order; receives
   * are posted in the same order.
   */
  async run(): Promise<void> {
    const { local, place, node, counterparts } = this.#position;
    const own = this.#own;
    const homed = own.filter(({ home }) => home === node);
    const contributions = this.#arrivals(local, place, own);
    const sums = this.#arrivals(counterparts, node, homed);
    this.#sendContributions();
    await Promise.all([
      this.#reduce(contributions, sums),
      ...this.#lanes.map((chunks, lane) =>
        lane === place ? undefined : this.#collect(local[lane]!, chunks),
      ),
    ]);
    await Promise.all(this.#sends);
  }

  /**
   * Sums this rank's lane within the node, then between nodes, and sends the result on.
   */
  async #reduce(
    contributions: readonly Arrival[],
    sums: readonly Arrival[],
  ): Promise<void> {
    const { local, place, node, counterparts } = this.#position;
    const own = this.#own;
    for (const [index, { vector, home }] of own.entries()) {
      await this.#combine(vector, place, contributions[index]!);
      if (home !== node) this.#send(counterparts[home]!, vector);
    }
    const results: (Promise<void> | undefined)[] = [];
    let homed = 0;
    for (const [index, { vector, home }] of own.entries()) {
      for (const ahead of own.slice(results.length, index + WINDOW)) {
        const elsewhere = ahead.home !== node;
        results.push(
          elsewhere
            ? this.#receive(counterparts[ahead.home]!, ahead.vector)
            : undefined,
        );
      }
      if (home === node) {
        await this.#combine(vector, node, sums[homed++]!);
        for (const peer of counterparts) this.#send(peer, vector);
      } else await results[index];
      for (const peer of local) this.#send(peer, vector);
    }
  }

  /**
   * Receives another lane's results from its owner. Each overwrites this rank's
   * contribution, which must have been sent already, since the result contains it.
   */
  async #collect(owner: number, chunks: readonly Chunk[]): Promise<void> {
    const arrivals: Promise<void>[] = [];
    for (const index of chunks.keys()) {
      for (const { vector } of chunks.slice(arrivals.length, index + WINDOW)) {
        arrivals.push(this.#receive(owner, vector));
      }
      await arrivals[index];
    }
  }

  /** Sends this rank's elements of all other lanes to their owners on its node. */
  #sendContributions(): void {
    const { local, place } = this.#position;
    const most = Math.max(...this.#lanes.map(({ length }) => length));
    for (let index = 0; index < most; index++) {
      // Each rank begins with a different peer, so that none is contacted by all at once.
      for (let step = 1; step <= local.length; step++) {
        const lane = (place + step) % local.length;
        const chunk = this.#lanes[lane]?.[index];
        if (chunk !== undefined) this.#send(local[lane]!, chunk.vector);
      }
    }
  }

  /** Posts receives for these ranks' contributions to each of the chunks. */
  #arrivals(
    ranks: readonly number[],
    own: number,
    chunks: readonly Chunk[],
  ): readonly Arrival[] {
    const { valueBytes } = this.#communicator;
    const bytes = chunks.reduce(
      (sum, { vector }) => sum + valueBytes * vector.length,
      0,
    );
    const starts = ranks.map((rank, index) =>
      index === own || bytes === 0
        ? 0
        : this.#communicator.scratch(`of ${rank}`, bytes).offset,
    );
    let at = 0;
    return chunks.map(({ vector: { length } }) => {
      const regions = starts.map((start) =>
        vectorRegion({ offset: start + at, length }, valueBytes),
      );
      at += valueBytes * length;
      const received = regions.map(({ offset }, index) =>
        index === own ? undefined : this.#receive(ranks[index]!, { offset, length }),
      );
      return { regions, received };
    });
  }

  /** Combines the contributions into the chunk in rank order, this rank's own included. */
  async #combine(
    vector: Vector,
    place: number,
    { regions, received }: Arrival,
  ): Promise<void> {
    await Promise.all(received);
    this.#communicator.reduce(() => {
      combineInOrder(this.#communicator, vector, place, regions);
    });
  }

  /** Sends part of the vector to a peer; does nothing if the peer is this rank. */
  #send(peer: number, vector: Vector): void {
    const { rank, valueBytes } = this.#communicator;
    if (peer === rank) return;
    this.#sends.push(this.#communicator.send(peer, vectorRegion(vector, valueBytes)));
  }

  #receive(peer: number, vector: Vector): Promise<void> {
    const { valueBytes } = this.#communicator;
    return this.#communicator.receive(peer, vectorRegion(vector, valueBytes));
  }
}

/** Bytes that one rank sends, framing excluded: exact. */
export function hierarchicalBytesSent(rank: number, shape: ExchangeShape): number {
  const { ranks, payloadBytes, places = onOneNode(ranks), valueBytes = 4 } = shape;
  const { lanes, nodes, node, local, place, counterparts } = placeOnNode({
    places,
    rank,
  });
  const vector = { offset: 0, length: payloadBytes / valueBytes };
  let elements = 0;
  for (let lane = 0; lane < lanes; lane++) {
    const { length } = part(vector, lanes, lane);
    elements += lane === place ? (local.length - 1) * length : length;
  }
  if (counterparts.length > 0) {
    const own = part(vector, lanes, place, valueBytes);
    for (const { vector: chunk, home } of chunksOf(own, nodes.length, valueBytes)) {
      elements += chunk.length * (home === node ? nodes.length - 1 : 1);
    }
  }
  return valueBytes * elements;
}
