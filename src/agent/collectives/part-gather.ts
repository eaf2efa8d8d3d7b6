/**
 * The second phase of `ssar-split-allgather`: every rank has the sum of one part of the
 * range of indices, and all ranks get all parts.
 *
 * Few ranks send their parts directly to all others, which post their receives at the
 * beginning: of messages sent at the same time only the first costs a whole α, and no
 * part waits for another. Many ranks gather in ⌈log₂P⌉ rounds (`doubling-blocks.ts`). The
 * bytes are the same.
 *
 * Cost: α + (P−2)·o or ⌈log₂P⌉·α, and the bytes of all other parts.
 */
import {
  burstSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { blockRounds, blockRoundSeconds } from './doubling-blocks.ts';
import { partRange, partRanges } from './partition.ts';
import {
  unframed,
  framed,
  framedBytes,
  streamCapacity,
  STREAM_HEADER_BYTES,
  type Stream,
} from './sparse-stream.ts';

/** The most ranks that send directly. */
const DIRECT_RANKS = 16;

/** @param bytes of a reduced part */
export const partGatherSeconds = (
  network: NetworkCost,
  ranks: number,
  bytes: number,
): number =>
  ranks <= DIRECT_RANKS
    ? burstSeconds(network, ranks - 1, bytes)
    : blockRoundSeconds(network, ranks, bytes);

/**
 * All ranks' parts, in order.
 * @param length of the whole vector, which the ranks have in equal parts
 * @param own this rank's part
 */
export const gatherParts = (
  communicator: Communicator,
  length: number,
  own: Promise<Stream>,
): Promise<readonly Stream[]> =>
  communicator.size <= DIRECT_RANKS
    ? gatherDirectly(communicator, length, own)
    : gatherInRounds(communicator, length, own);

async function gatherDirectly(
  communicator: Communicator,
  length: number,
  own: Promise<Stream>,
): Promise<readonly Stream[]> {
  const { rank, size, valueBytes } = communicator;
  const scratch = partsScratch(communicator, length);
  const arrivals = partRanges(length, size).map(async (range, owner) => {
    if (owner === rank) return await own;
    const offset =
      scratch.offset + valueBytes * range.start + owner * STREAM_HEADER_BYTES;
    const region = await communicator.receiveSized(
      owner,
      streamCapacity(range.length, valueBytes),
      (bytes) => ({ offset, bytes }),
    );
    return communicator.reduce(() => unframed(communicator, region, range, owner));
  });
  const send = async (): Promise<void> => {
    const region = framed(communicator, await own);
    const sends = Array.from({ length: size - 1 }, (_, step) =>
      communicator.send((rank + step + 1) % size, region),
    );
    await Promise.all(sends);
  };
  const [parts] = await Promise.all([Promise.all(arrivals), send()]);
  return parts;
}

/**
 * Parts are stored one after the other in the order in which they arrive, so that the
 * next round sends a single piece.
 */
async function gatherInRounds(
  communicator: Communicator,
  length: number,
  sum: Promise<Stream>,
): Promise<readonly Stream[]> {
  const { arena, rank, size, valueBytes } = communicator;
  const rangeOf = (index: number) => partRange(length, size, index);
  const own = await sum;
  const scratch = partsScratch(communicator, length);
  const parts: Stream[] = [];
  /** Ends of the blocks: the i-th is where i blocks end. */
  const ends = [scratch.offset];
  const append = (index: number, stream: Stream, bytes: number): void => {
    parts[index] = stream;
    ends.push(ends.at(-1)! + bytes);
  };
  const { offset, bytes } = framed(communicator, own);
  arena.u8(scratch.offset, bytes).set(arena.u8(offset, bytes));
  append(rank, { ...own, offset: scratch.offset + STREAM_HEADER_BYTES }, bytes);
  const sends: Promise<void>[] = [];
  for (const { to, from, sent, received } of blockRounds(rank, size)) {
    const prefix = ends[sent.length]! - scratch.offset;
    sends.push(communicator.send(to, { offset: scratch.offset, bytes: prefix }));
    const maximum = received.reduce(
      (sum, index) => sum + streamCapacity(rangeOf(index).length, valueBytes),
      0,
    );
    const end = ends.at(-1)!;
    const region = await communicator.receiveSized(from, maximum, (arriving) => ({
      offset: end,
      bytes: arriving,
    }));
    communicator.reduce(() => {
      let left = region;
      for (const [place, index] of received.entries()) {
        const more = place < received.length - 1;
        const stream = unframed(communicator, left, rangeOf(index), from, more);
        const used = framedBytes(stream, valueBytes);
        append(index, stream, used);
        left = { offset: left.offset + used, bytes: left.bytes - used };
      }
    });
  }
  await Promise.all(sends);
  return parts;
}

/** Room for all parts with their headers. */
function partsScratch(communicator: Communicator, length: number): Region {
  const { size, valueBytes } = communicator;
  const bytes = valueBytes * length + size * STREAM_HEADER_BYTES;
  return communicator.scratch('gathered parts', bytes);
}
