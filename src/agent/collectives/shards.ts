/**
 * The exchange of a parameter server, whatever is in the payloads: every rank sends each
 * server what it has of the server's shard (push); a server adds up what all ranks sent, in
 * rank order, and sends the sum to all (pull). What a shard is in memory, and how it is
 * summed, is in `dense-shards.ts` and `sparse-shards.ts`.
 *
 * A server adds while later contributions are on their way. It receives at most 4·S of
 * them ahead, of N/S elements each: four vectors' worth of memory, however many ranks there
 * are. Those of other ranks wait in the transport.
 */
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';

/** Of one rank in one exchange; shards are numbered in the order of their servers. */
export interface Shards {
  /** Whether it has anything to send: an empty shard may take no messages at all. */
  travels(shard: number): boolean;
  /** What this rank has of a shard. */
  contribution(shard: number): Region;
  /** Begins to receive what a rank has of this rank's own shard. */
  receive(peer: number): Promise<unknown>;
  /** Adds what a rank has to the sum: in rank order, this rank among them. */
  add(peer: number): void;
  /** The sum of this rank's own shard, once all have been added. */
  sum(): Region;
  /** Begins to receive the sum of another shard. */
  receiveSum(shard: number): Promise<unknown>;
}

/** Contributions that a server receives ahead of the one that it adds. */
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
  // Each rank begins with another server, so that none is contacted by all at once.
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
        // Another server's sum comes behind its contribution.
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
