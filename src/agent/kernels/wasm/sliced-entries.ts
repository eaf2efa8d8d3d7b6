/**
 * Entries of a vector, written by several threads in the order of one: each slice writes
 * to the position given by a prefix sum over the slices' counts. The steps are in
 * `assembly/sliced-selection.ts`. Magnitudes are bits of |x|, as integers.
 */
import type { Arena } from '../../memory/arena.ts';
import { SLICE } from './job-board.ts';
import type { Elements, Of } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';
import { Scratch } from './scratch.ts';
import { TALLY_BYTES } from './shared-calls.ts';
import { THREAD_BYTES } from './thread-scratch.ts';

type X = Elements<'x'>;

const TALLY_WORDS = TALLY_BYTES / 4;
/** Bytes of all threads' rooms: the arena has 4 GiB, and gradients need most of it. */
const MOST_ROOM = 2 ** 26;

/** The destination: the addresses of the first index and the first value. */
export interface EntryPlace {
  readonly indices: Of<'indices'>;
  readonly values: Of<'values'>;
}

export class SlicedEntries {
  readonly #arena: Arena;
  readonly #pool: KernelPool;
  readonly #tallies: Scratch;
  readonly #rooms: Scratch;
  /** The most entries that may be collected, since each thread has room for all of them. */
  readonly mostCollected: number;

  /** @param mostRoom bytes of all threads' rooms */
  constructor(arena: Arena, pool: KernelPool, mostRoom = MOST_ROOM) {
    this.#arena = arena;
    this.#pool = pool;
    this.#tallies = new Scratch(arena);
    this.#rooms = new Scratch(arena);
    this.mostCollected = Math.floor(mostRoom / (8 * pool.count));
  }

  /**
   * Writes every entry above `magnitude` and the first `ties` entries at it, but no more
   * than `limit`. Returns how many.
   */
  compact(
    { offset, length }: X,
    magnitude: number,
    ties: number,
    limit: number,
    first: Of<'first'>,
    { indices, values }: EntryPlace,
  ): number {
    const { sliced } = this.#pool;
    const tally = this.#reserveTallies(length);
    sliced.countAtLeast(offset, length, magnitude, tally);
    const tallies = this.#talliesOf(tally, length);
    let place = 0;
    let tiesLeft = ties;
    for (let at = 0; at < tallies.length; at += TALLY_WORDS) {
      const equal = Math.min(tiesLeft, tallies[at + 1]!);
      const count = Math.min(limit - place, tallies[at]! + equal);
      tiesLeft -= equal;
      tallies[at] = place;
      tallies[at + 1] = count;
      tallies[at + 2] = equal;
      place += count;
    }
    sliced.compactSlice(offset, length, magnitude, first, tally, indices, values);
    return place;
  }

  /**
   * Collects the entries ≥ `magnitude` in the threads' rooms, for `place` to write.
   * Returns how many; undefined if there may be `capacity` or more, not all of which were
   * collected.
   * @param capacity `mostCollected` or less
   */
  collect(
    { offset, length }: X,
    magnitude: number,
    first: Of<'first'>,
    capacity: number,
  ): number | undefined {
    const { cursor, total, count, sliced } = this.#pool;
    const rooms = this.#rooms.reserve(8 * capacity * count);
    this.#setWord(total, 0);
    for (let thread = 0; thread < count; thread++) {
      this.#setWord(cursor + thread * THREAD_BYTES, 0);
    }
    sliced.collectSlice(
      offset,
      length,
      magnitude,
      first,
      this.#reserveTallies(length),
      cursor,
      total,
      capacity as Of<'capacity'>,
      rooms as Of<'room'>,
      (rooms + 4 * capacity) as Of<'room'>,
    );
    const found = this.#arena.u32(total, 1)[0]!;
    return found < capacity ? found : undefined;
  }

  /**
   * Copies the first `limit` entries collected of n to their place. Returns how many.
   * Returns undefined, and does nothing, if entries before the last of them were skipped.
   */
  place(n: number, limit: number, { indices, values }: EntryPlace): number | undefined {
    const tally = this.#reserveTallies(n);
    const tallies = this.#talliesOf(tally, n);
    let place = 0;
    for (let at = 0; at < tallies.length; at += TALLY_WORDS) {
      const count = Math.min(limit - place, tallies[at + 1]!);
      const incomplete = tallies[at] === 1;
      tallies[at] = place;
      tallies[at + 1] = count;
      place += count;
      if (incomplete && place < limit) return undefined;
    }
    const slices = Math.ceil(n / SLICE) as Of<'n'>;
    this.#pool.sliced.placeSlices(tally, slices, indices, values);
    return place;
  }

  #setWord(offset: number, value: number): void {
    this.#arena.u32(offset, 1)[0] = value;
  }

  #reserveTallies(n: number): Of<'tally'> {
    return this.#tallies.reserve(TALLY_BYTES * Math.ceil(n / SLICE)) as Of<'tally'>;
  }

  #talliesOf(tally: number, n: number): Uint32Array {
    return this.#arena.u32(tally, TALLY_WORDS * Math.ceil(n / SLICE));
  }
}
