/**
 * Ok-Topk: a sparse allreduce that keeps about k entries of the sum, those of the largest
 * magnitude, where k is the average number of entries that a rank sends. Rank j reduces
 * range j of the indices; the reduced entries that reach a global threshold go to all. So
 * fill-in is never sent: a rank sends and receives O(k) entries, whatever P is. A rank
 * keeps every entry that it sent and that was left out (`Combined.partial`) in the
 * residual of error feedback.
 *
 * Cost: (P−1)·α + 2⌈log₂P⌉·α + 2(P−1)/P·k·8β; and, occasionally, the cost of agreements:
 * on ranges with equally many entries, every 64 exchanges (`balanced-ranges.ts`), and on
 * the threshold, every 32 (`global-threshold.ts`). In between, a threshold that keeps
 * less than k/2 or more than 2k is replaced at once; if ties make a new one keep more
 * than 2k, those with the lowest indices are kept, k entries in total (`broken-ties.ts`).
 *
 * So never more than 2k entries are kept, and a rank that has c entries of its own sends
 * at most c + 4k + P, whatever the ranges are: c to the ranks that reduce them, 2k to
 * even out what is kept, and 2k + P to send the equal shares on. That is 5k + P if all
 * ranks have equally many. Agreements and headers are not included.
 *
 * A range is reduced by one rank, as a tree over the ranks, and agreements are computed
 * from numbers that all have: all ranks get the same bits. Sums that are exactly 0 are
 * left out.
 *
 * Source: "Near-optimal sparse allreduce for distributed deep learning" (Li and Hoefler,
 * PPoPP 2022), algorithm 1. There the threshold may drift between two evaluations.
 */
import { burstSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Vector } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import { closeStream, roomBytes } from '../kernels/sparsification.ts';
import { allgather } from './allgather.ts';
import { balancedRanges, HISTOGRAM_BYTES } from './balanced-ranges.ts';
import { breakTies, type KeptEntries } from './broken-ties.ts';
import type { CollectiveDefinition, Communicator } from './collective.ts';
import { blockRoundSeconds } from './doubling-blocks.ts';
import { gatherEntries } from './entries-allgather.ts';
import { entriesPerRank, mergedTreeSeconds, splitSeconds, unionOf } from './fill-in.ts';
import { globalThreshold, LEAST, THRESHOLD_ROUNDS } from './global-threshold.ts';
import type { ElementRange } from './partition.ts';
import {
  invalidStream,
  mergedTree,
  streamBytes,
  type Stream,
} from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';
import { treeDepth } from './folding.ts';

/**
 * The number of exchanges between two agreements on ranges, τ, and on a threshold, τ′.
 */
const RANGES_LIVE = 64;
const THRESHOLD_LIVES = 32;
/** A threshold holds while it keeps between k/2 and 2k entries. */
const BAND = 2;

export const okTopk: CollectiveDefinition = {
  id: 'ok-topk',
  code: 10,
  title: 'Ok-Topk',
  summary:
    'About k of the largest entries of the sum; the rest stays in each rank’s residual.',
  source: 'Ok-Topk (Li and Hoefler, PPoPP 2022), algorithm 1',
  formula: '(P−1)·α + 2⌈log₂P⌉·α + 2(P−1)/P·k·8β, and occasional agreements',
  suits:
    'Many ranks whose entries differ: what fills in is not sent. Named only: it changes what is exchanged.',
  takes: ['sparse'],
  partial: true,
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    const depth = treeDepth(ranks);
    const agreements = THRESHOLD_ROUNDS / THRESHOLD_LIVES + 1 / RANGES_LIVE;
    const k = entriesPerRank(shape);
    const part = streamBytes(k / ranks, shape.length / ranks, shape);
    const counts = (ranks - 1) * (COUNTS_BYTES + HISTOGRAM_BYTES / RANGES_LIVE);
    return (
      burstSeconds(network, ranks - 1, part) +
      blockRoundSeconds(network, ranks, sparseBytes(k / ranks)) +
      (1 + agreements) * depth * network.alpha +
      counts * network.beta +
      splitSeconds(shape, network) +
      mergedTreeSeconds(shape, ranks, network) +
      (unionOf(shape, ranks) / ranks + 4 * k) * network.gamma
    );
  },
  wireBytes: (shape) => {
    const { ranks, length } = shape;
    const k = entriesPerRank(shape);
    const part = streamBytes(k / ranks, length / ranks, shape);
    const passedOn = sparseBytes(k / ranks) + COUNTS_BYTES;
    return (ranks - 1) * (part + passedOn + HISTOGRAM_BYTES / RANGES_LIVE);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    if (payload.kind !== 'sparse') {
      throw new Error(`internal: ok-topk of a ${payload.kind} payload`);
    }
    const { length, count, data } = payload;
    if (communicator.size === 1) return { form: 'sparse', count, data };
    if (communicator.operation !== 'sum' || communicator.valueBytes !== 4) {
      throw new Error(`internal: ok-topk of a ${communicator.operation}`);
    }
    const agreed = new Agreement(communicator, length);
    if (agreed.rangesAreDue) {
      const stream = { offset: data.offset, count };
      agreed.ranges = await balancedRanges(communicator, stream, length);
    }
    const { ranges } = agreed;
    const contributions = await exchangeParts(communicator, payload, ranges);
    const own = communicator.reduce(() => mergedTree(communicator, contributions));
    const reach = async (): Promise<Reaching> => {
      const stream = communicator.reduce(() =>
        entriesReaching(communicator, own, agreed.threshold),
      );
      return { stream, ...(await shareCounts(communicator, ranges, stream, count)) };
    };
    const keep = async (): Promise<KeptEntries> => {
      if (!agreed.thresholdIsDue) {
        const reaching = await reach();
        if (holds(reaching, agreed.threshold)) return reaching;
      }
      agreed.threshold = await globalThreshold(communicator, valuesOf(own), count);
      const reaching = await reach();
      if (holds(reaching, agreed.threshold)) return reaching;
      const k = shareOf(reaching);
      return await breakTies(communicator, reaching, agreed.threshold, k);
    };
    const kept = await keep();
    agreed.age++;
    return await gatherEntries(communicator, kept.stream, kept.counts, length);
  },
};

/**
 * Numbers that the ranks have agreed on, in the communicator's memory. A vector of another length
 * starts over.
 */
class Agreement {
  readonly #length: number;
  /** N, age, threshold, then where each range starts. */
  readonly #numbers: Float64Array;

  constructor(communicator: Communicator, length: number) {
    this.#length = length;
    this.#numbers = communicator.memory(okTopk.id, 3 + communicator.size);
    if (this.#numbers[0] === length) return;
    this.#numbers.fill(0);
    this.#numbers[0] = length;
  }

  /** Exchanges so far. */
  get age(): number {
    return this.#numbers[1]!;
  }

  set age(exchanges: number) {
    this.#numbers[1] = exchanges;
  }

  get rangesAreDue(): boolean {
    return this.age % RANGES_LIVE === 0;
  }

  get thresholdIsDue(): boolean {
    return this.age % THRESHOLD_LIVES === 0;
  }

  get threshold(): number {
    return this.#numbers[2]!;
  }

  set threshold(magnitude: number) {
    this.#numbers[2] = magnitude;
  }

  get ranges(): readonly ElementRange[] {
    const starts = [...this.#numbers.subarray(3)];
    return starts.map((start, index) => ({
      start,
      length: (starts[index + 1] ?? this.#length) - start,
    }));
  }

  set ranges(ranges: readonly ElementRange[]) {
    this.#numbers.set(
      ranges.map(({ start }) => start),
      3,
    );
  }
}

/** Two counts of a rank: the entries that it keeps, and those that it sent. */
const COUNTS_BYTES = 8;

interface Reaching extends KeptEntries {
  /** Entries sent by all ranks together. */
  readonly sent: number;
}

/** @throws GradwireError `PAYLOAD_INVALID` */
async function shareCounts(
  communicator: Communicator,
  ranges: readonly ElementRange[],
  stream: SparseStream,
  sent: number,
): Promise<Pick<Reaching, 'counts' | 'sent'>> {
  const { arena, rank, size } = communicator;
  const into = communicator.scratch('counts', COUNTS_BYTES * size);
  const numbers = arena.u32(into.offset, 2 * size);
  numbers.set([stream.count, sent], 2 * rank);
  const sizes = new Array<number>(size).fill(COUNTS_BYTES);
  await allgather.run(communicator, into, sizes);
  const counts = ranges.map((range, peer) => {
    const count = numbers[2 * peer]!;
    if (count <= range.length) return count;
    throw invalidStream(
      peer,
      `a count of ${count} entries for a range of ${range.length} elements`,
    );
  });
  const all = ranges.reduce((sum, _, peer) => sum + numbers[2 * peer + 1]!, 0);
  return { counts, sent: all };
}

/** k: entries that a rank has sent, on average. */
const shareOf = ({ counts, sent }: Reaching): number => Math.ceil(sent / counts.length);

/** Whether about k entries are kept, or lowering the threshold would keep no more. */
function holds(reaching: Reaching, threshold: number): boolean {
  const total = reaching.counts.reduce((sum, count) => sum + count, 0);
  const k = shareOf(reaching);
  return total <= BAND * k && (BAND * total >= k || threshold === LEAST);
}

/** The stream's values, or all elements where it is dense. */
const valuesOf = (stream: Stream): Vector =>
  stream.form === 'dense'
    ? { offset: stream.offset, length: stream.length }
    : { offset: stream.offset + 4 * stream.count, length: stream.count };

/** The entries whose magnitude reaches the threshold, in scratch. */
function entriesReaching(
  communicator: Communicator,
  stream: Stream,
  threshold: number,
): SparseStream {
  const { arena, kernels } = communicator;
  const values = valuesOf(stream);
  const { length: capacity } = values;
  const { offset } = communicator.scratch('reaching', roomBytes(capacity));
  const room = { offset, capacity };
  const { sparsification } = kernels;
  const first = stream.form === 'dense' ? stream.start : 0;
  const count = sparsification.appendAtLeast(
    values,
    threshold,
    first,
    room,
    0,
    capacity,
  );
  if (stream.form === 'sparse') {
    const places = arena.u32(offset, count);
    const indices = arena.u32(stream.offset, stream.count);
    for (let i = 0; i < count; i++) places[i] = indices[places[i]!]!;
  }
  return closeStream(arena, room, count);
}
