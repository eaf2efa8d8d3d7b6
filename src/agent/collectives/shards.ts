/**
 * The exchange of a parameter server, for any payloads: every rank sends each server its
 * contribution to the server's shard (push); a server adds the contributions of all
 * ranks, in rank order, and sends the sum to all (pull). How a shard is stored and summed
 * is in `dense-shards.ts` and `sparse-shards.ts`.
 *
 * A server adds while later contributions are on their way. It receives at most 4·S of
 * them ahead, of N/S elements each: four vectors' worth of memory, however many ranks
 * there are. Further contributions wait in the transport.
 */
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';

/** The shards of one rank in one exchange, numbered in the order of their servers. */
export interface Shards {
  /** Whether the shard is sent; an empty one may need no messages at all. */
  travels(shard: number): boolean;
  /** Returns this rank's contribution to a shard. */
  contribution(shard: number): Region;
  /** Begins to receive a rank's contribution to this rank's own shard. */
  receive(peer: number): Promise<unknown>;
  /** Adds a rank's contribution to the sum; called in rank order, this rank included. */
  add(peer: number): void;
  /** The sum of this rank's own shard, once all have been added. */
  sum(): Region;
  /** Begins to receive the sum of another shard. */
  receiveSum(shard: number): Promise<unknown>;
}

/** The number of contributions that a server receives ahead of the one that it adds. */
export const contributionsAhead = (ranks: number, servers: number): number =>
  Math.min(ranks, 4 * servers);

/**
 * @param servers ranks, ascending
 * @throws GradwireError `PAYLOAD_INVALID`, the transport's errors
 */
export async function exchangeShards(
  communicator: Communicator,
  servers: readonly number[],
  shards: Shards,
): Promise<void> {
  const { rank, size } = communicator;
  const own = servers.indexOf(rank);
  const others = [...servers.keys()].filter(
    (shard) => shard !== own && shards.travels(shard),
  );
  // Each rank begins with a different server, so that none is contacted by all at once.
  const sends = others.map((_, step) => {
    const shard = others[(rank + step) % others.length]!;
    return communicator.send(servers[shard]!, shards.contribution(shard));
  });
  const sums: Promise<unknown>[] = [];
  if (own < 0 || !shards.travels(own)) {
    sums.push(...others.map((shard) => shards.receiveSum(shard)));
  } else {
    const ahead = contributionsAhead(size, servers.length);
    const arrivals: Promise<unknown>[] = [];
    for (let peer = 0; peer < size; peer++) {
      for (let next = arrivals.length; next < Math.min(peer + ahead, size); next++) {
        arrivals.push(next === rank ? ARRIVED : shards.receive(next));
        // Another server's sum follows its contribution.
        const shard = servers.indexOf(next);
        if (others.includes(shard)) sums.push(shards.receiveSum(shard));
      }
      await arrivals[peer];
      communicator.reduce(() => {
        shards.add(peer);
      });
    }
    for (let step = 1; step < size; step++) {
      sends.push(communicator.send((rank + step) % size, shards.sum()));
    }
  }
  await Promise.all([...sends, ...sums]);
}

const ARRIVED = Promise.resolve();
