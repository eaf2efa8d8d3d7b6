/**
 * The shards of a sparse payload: streams of adjacent ranges of indices, pushed and
 * pulled unchanged, each dense if it reaches its δ (`sparse-stream.ts`). A server merges
 * its shard stream by stream. An empty stream is still sent, as a header.
 */
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { partRanges } from './partition.ts';
import { contributionsAhead, type Shards } from './shards.ts';
import {
  asCombined,
  assembled,
  merged,
  mergedBytes,
  unframed,
  framed,
  split,
  streamCapacity,
  type Stream,
} from './sparse-stream.ts';

export interface SparseShards extends Shards {
  /** The sums of all shards as one, in scratch, once they have arrived. */
  combined(): Combined;
}

/** @param servers ranks, ascending */
export function sparseShards(
  communicator: Communicator,
  payload: Payload,
  servers: readonly number[],
): SparseShards {
  const { rank, size, valueBytes } = communicator;
  const ranges = partRanges(payload.length, servers.length);
  const own = servers.indexOf(rank);
  const parts = communicator.reduce(() => split(communicator, payload, ranges));
  const contributions: Region[] = [];
  const sums: Region[] = [];
  let ownSum: Stream | undefined;
  const slots = contributionsAhead(size, servers.length);
  const slotKeys = Array.from({ length: slots }, (_, slot) => `contribution ${slot}`);
  let merges = 0;
  const receive = (
    from: number,
    shard: number,
    landed: (region: Region) => void,
    key: string,
  ): Promise<Region> =>
    communicator.receiveSized(
      from,
      streamCapacity(ranges[shard]!.length, valueBytes),
      (bytes) => {
        const region = { ...communicator.scratch(key, bytes), bytes };
        landed(region);
        return region;
      },
    );
  const mergedInTurns = (sum: Stream, stream: Stream): Stream => {
    const bytes = mergedBytes(sum, stream, communicator);
    if (bytes === 0) return merged(communicator, sum, stream, 0);
    const { offset } = communicator.scratch(`sum ${merges++ % 2}`, bytes);
    return merged(communicator, sum, stream, offset);
  };
  return {
    travels: () => true,
    contribution: (shard) => framed(communicator, parts[shard]!),
    receive: (peer) => {
      // The sum starts in the place of the first one.
      const key = peer === 0 ? 'first contribution' : slotKeys[peer % slots]!;
      return receive(peer, own, (region) => (contributions[peer] = region), key);
    },
    add: (peer) => {
      const stream =
        peer === rank
          ? parts[own]!
          : unframed(communicator, contributions[peer]!, ranges[own]!, peer);
      const sum = ownSum === undefined ? stream : mergedInTurns(ownSum, stream);
      // A dense contribution becomes the sum in place, and keeps its slot: at most once.
      if (sum === stream && peer > 0) slotKeys[peer % slots] = 'spare contribution';
      ownSum = sum;
    },
    sum: () => framed(communicator, ownSum!),
    receiveSum: (shard) => {
      const server = servers[shard]!;
      const key = `sum of ${server}`;
      return receive(server, shard, (region) => (sums[shard] = region), key);
    },
    combined: () =>
      communicator.reduce(() => {
        const streams = ranges.map((range, shard) =>
          shard === own
            ? ownSum!
            : unframed(communicator, sums[shard]!, range, servers[shard]!),
        );
        const [only] = streams;
        return streams.length === 1
          ? asCombined(only!, valueBytes)
          : assembled(communicator, streams);
      }),
  };
}
