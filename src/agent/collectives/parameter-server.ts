/**
 * Synchronous parameter server: S of the P ranks are servers, each for one shard of the
 * range of indices, and workers as well. Every rank sends each server its part of the
 * payload (push), a server sums what all ranks sent, in rank order, and sends the sum to
 * all (pull). With S = P every rank has a shard: the split and gather of SparCML. With S
 * = 1 everything passes the link of one rank, as with a central server.
 *
 * Cost: 2·(α + (P−2)·o) + 2(P−1)/S·N·4β + (P−1)/S·N·γ: a server's P − 1 pushes share its
 * incoming link, its P − 1 replies its outgoing one. For sparse payloads with K entries
 * in the result, (P−1)/S·(k + K)·8β plus merging. A server whose shard has ℓ elements
 * sends exactly N − ℓ + (P − 1)·ℓ elements, any other rank N.
 *
 * A shard is summed by one rank alone, in rank order, never in order of arrival: all ranks
 * get the same bits, dense and sparse alike, however many servers there are.
 *
 * Source: Li et al., "Scaling distributed machine learning with the parameter server"
 * (OSDI 2014), sections 2 and 3; synchronous, without its replicas: the setting of DCT,
 * ScaleCom and QSGD.
 */
import {
  burstSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { denseShards } from './dense-shards.ts';
import {
  assembledSeconds,
  entriesPerRank,
  mergedSeconds,
  partOf,
  splitSeconds,
  unionBytes,
  unionOf,
} from './fill-in.ts';
import { partRange } from './partition.ts';
import { payloadVector, vectorRegion } from './payload-region.ts';
import { DEFAULT_SERVERS, serverRanks } from './server-ranks.ts';
import { exchangeShards } from './shards.ts';
import { sparseShards } from './sparse-shards.ts';
import { streamBytes } from './sparse-stream.ts';

export const parameterServer: CollectiveDefinition = {
  id: 'parameter-server',
  code: 13,
  title: 'Parameter server',
  summary: 'Some ranks are servers: each sums one shard and sends the sum to all.',
  source: 'Li et al. (OSDI 2014), sections 2 and 3',
  formula: '2·(α + (P−2)·o) + 2(P−1)/S·N·4β + (P−1)/S·N·γ',
  suits: 'Comparison with work that uses servers. Named only.',
  takes: ['dense', 'sparse'],
  hasServers: true,
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    const { push, pull } = messageBytes(shape);
    return (
      burstSeconds(network, ranks - 1, push) +
      burstSeconds(network, ranks - 1, pull) +
      (isDense(shape)
        ? (((ranks - 1) * shape.length) / serversOf(shape)) * network.gamma
        : sparseSeconds(shape, network))
    );
  },
  wireBytes: (shape) => {
    const { length, ranks, valueBytes = 4 } = shape;
    const servers = serversOf(shape);
    if (ranks === 1) return 0;
    if (isDense(shape)) {
      const longest = partRange(length, servers, servers - 1).length;
      return valueBytes * (length + (ranks - 2) * longest);
    }
    const { push, pull } = messageBytes(shape);
    const byServer = (servers - 1) * push + (ranks - 1) * pull;
    return servers === ranks ? byServer : Math.max(byServer, servers * push);
  },
  crossing: (shape, places) => {
    const servers = new Set(serverRanks(places, serversOf(shape)));
    const { push, pull } = messageBytes(shape);
    const nodes = Map.groupBy(places.keys(), (rank) => places[rank]!);
    // Pushes that leave a node, and those that enter it; replies go the other way.
    const passing = [...nodes.values()].flatMap((members) => {
      const own = members.filter((rank) => servers.has(rank)).length;
      const leaving = members.length * (servers.size - own);
      return [leaving, own * (places.length - members.length)];
    });
    return Math.max(...passing) * (push + pull);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { places, size, valueBytes } = communicator;
    const servers = serverRanks(places, communicator.servers);
    if (payload.kind !== 'sparse') {
      const vector = payloadVector(payload, valueBytes);
      await exchangeShards(
        communicator,
        servers,
        denseShards(communicator, vector, servers),
      );
      return { form: 'dense', data: vectorRegion(vector, valueBytes) };
    }
    if (size === 1) {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const shards = sparseShards(communicator, payload, servers);
    await exchangeShards(communicator, servers, shards);
    return shards.combined();
  },
};

/**
 * Counts the servers. If there are fewer ranks than servers, as in a forecast, all ranks are
 * servers.
 */
const serversOf = ({ ranks, servers = DEFAULT_SERVERS }: ExchangeShape): number =>
  Math.min(ranks, servers);

const isDense = ({
  length,
  nnz,
  payloadBytes,
  valueBytes = 4,
}: ExchangeShape): boolean => nnz === undefined && payloadBytes === valueBytes * length;

/** Bytes of one shard: a rank's contribution, and the sum. */
function messageBytes(shape: ExchangeShape): { push: number; pull: number } {
  const { length, payloadBytes, ranks } = shape;
  const servers = serversOf(shape);
  if (isDense(shape))
    return { push: payloadBytes / servers, pull: payloadBytes / servers };
  const entries = entriesPerRank(shape) / servers;
  return {
    push: streamBytes(entries, length / servers, shape),
    pull: unionBytes(shape, ranks, servers),
  };
}

/** A server merges rank by rank; every rank splits its payload and joins the sums. */
function sparseSeconds(shape: ExchangeShape, network: NetworkCost): number {
  const { ranks } = shape;
  const servers = serversOf(shape);
  const entries = entriesPerRank(shape) / servers;
  let seconds = splitSeconds(shape, network);
  if (servers > 1) seconds += assembledSeconds(shape, network);
  for (let united = 1; united < ranks; united++) {
    const sum = unionOf(shape, united) / servers;
    seconds += mergedSeconds(sum, entries, partOf(shape, servers), network);
  }
  return seconds;
}
