/**
 * Allgather of a sparse vector whose entries are spread over P ranks, each holding one
 * range. In a doubling scheme a rank sends its entries in every round, so if a rank holds
 * more than twice its share, entries are first moved to even out the load.
 *
 * Cost: ⌈log₂P⌉·α + (P−1)/P·K·8β of K entries, a round that wraps around in two pieces; at
 * most twice the bytes with shares that are not evened out. Evening out takes at most
 * 2(2P−1) messages of all ranks together, and no rank sends more than it has.
 *
 * Source: Ok-Topk (Li and Hoefler, PPoPP 2022), section 3.1.2.
 */
import type { Combined } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import { allgather } from './allgather.ts';
import type { Communicator } from './collective.ts';
import { invalidStream } from './sparse-stream.ts';

/** Fair shares of the entries that a rank may hold before entries are moved. */
const UNEVEN = 2;

/** Places [first, end) among all entries. */
interface Places {
  readonly first: number;
  readonly end: number;
}

/**
 * All entries on every rank, as a sum that leaves others out.
 * @param counts entries of each rank, known to all; indices ascend from rank to rank
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export async function gatherEntries(
  communicator: Communicator,
  own: SparseStream,
  counts: readonly number[],
  length: number,
): Promise<Combined> {
  const { reduction } = communicator;
  const held = heldBy(counts);
  const passed = passedOnBy(held);
  const total = held.at(-1)!.end;
  const { offset } = communicator.scratch('entries by rank', sparseBytes(total));
  const blocks = passed.map(({ first, end }) => ({
    offset: offset + sparseBytes(first),
    count: end - first,
  }));
  await moveEntries(communicator, own, blocks, held, passed);
  const sizes = blocks.map(({ count }) => sparseBytes(count));
  await allgather.run(communicator, { offset, bytes: sparseBytes(total) }, sizes);
  return communicator.reduce(() => {
    const stream = joined(communicator, blocks, total);
    const bad = reduction.firstDisordered(stream, 0, length);
    if (bad >= 0) {
      const peer = passed.findIndex(({ end }) => bad < end);
      throw invalidStream(peer, `an index that is out of order or not below ${length}`);
    }
    const data = { offset: stream.offset, bytes: sparseBytes(total) };
    return { form: 'sparse', count: total, data, partial: true };
  });
}

function heldBy(counts: readonly number[]): readonly Places[] {
  let end = 0;
  return counts.map((count) => {
    const first = end;
    end += count;
    return { first, end };
  });
}

/** Chooses the entries that each rank sends to all: those that it holds, or an equal share. */
function passedOnBy(held: readonly Places[]): readonly Places[] {
  const ranks = held.length;
  const total = held.at(-1)!.end;
  const most = Math.max(...held.map(({ first, end }) => end - first));
  if (most * ranks <= UNEVEN * total) return held;
  const place = (rank: number): number => Math.floor((rank * total) / ranks);
  return held.map((_, rank) => ({ first: place(rank), end: place(rank + 1) }));
}

/**
 * Moves every rank's entries to the blocks to which they belong, on this rank or on
 * others.
 */
async function moveEntries(
  communicator: Communicator,
  own: SparseStream,
  blocks: readonly SparseStream[],
  held: readonly Places[],
  passed: readonly Places[],
): Promise<void> {
  const { arena, rank, size } = communicator;
  /**
   * The entries at these positions of a stream whose first entry has position `first`.
   */
  const regions = (
    { offset, count }: SparseStream,
    { first }: Places,
    { first: from, end }: Places,
  ): readonly [Region, Region] => {
    const bytes = 4 * (end - from);
    const indices = { offset: offset + 4 * (from - first), bytes };
    return [indices, { offset: indices.offset + 4 * count, bytes }];
  };
  const messages: Promise<void>[] = [];
  for (let peer = 0; peer < size; peer++) {
    const going = common(held[rank]!, passed[peer]!);
    const coming = common(held[peer]!, passed[rank]!);
    const sources = regions(own, held[rank]!, going);
    const targets = regions(blocks[rank]!, passed[rank]!, coming);
    for (const which of [0, 1] as const) {
      const [source, target] = [sources[which], targets[which]];
      if (peer === rank) {
        if (source.bytes > 0) {
          const bytes = arena.u8(source.offset, source.bytes);
          arena.u8(target.offset, target.bytes).set(bytes);
        }
        continue;
      }
      if (source.bytes > 0) messages.push(communicator.send(peer, source));
      if (target.bytes > 0) messages.push(communicator.receive(peer, target));
    }
  }
  await Promise.all(messages);
}

/** The intersection of two ranges of positions; empty if they are disjoint. */
function common(a: Places, b: Places): Places {
  const first = Math.max(a.first, b.first);
  return { first, end: Math.max(first, Math.min(a.end, b.end)) };
}

/** Joins blocks of indices and blocks of values into one stream. */
function joined(
  communicator: Communicator,
  blocks: readonly SparseStream[],
  total: number,
): SparseStream {
  const { arena } = communicator;
  const { offset } = communicator.scratch('entries', sparseBytes(total));
  let at = offset;
  for (const { offset: from, count } of blocks) {
    arena.u32(at, count).set(arena.u32(from, count));
    const values = arena.u32(from + 4 * count, count);
    arena.u32(at + 4 * total, count).set(values);
    at += 4 * count;
  }
  return { offset, count: total };
}
