/**
 * Entries of a vector, written by several threads in the order of one: each slice writes
 * to the place that a prefix sum over the slices' counts has given it. The steps are in
 * `assembly/sliced-selection.ts`. Magnitudes are bits of |x|, as integers.
 */
import type { Arena, Vector } from '../../memory/arena.ts';
import { SLICE } from './job-board.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { Scratch } from './scratch.ts';

/** Of a slice; `assembly/sliced-selection.ts` says what is in it. */
const RECORD_WORDS = 4;
const RECORD_BYTES = 4 * RECORD_WORDS;

/** Where entries go: the addresses of the first index and the first value. */
export interface EntryPlace {
  readonly indices: number;
  readonly values: number;
}

export class SlicedEntries {
  readonly #arena: Arena;
  readonly #threads: KernelThreads;
  readonly #records: Scratch;
  readonly #rooms: Scratch;

  constructor(arena: Arena, threads: KernelThreads) {
    this.#arena = arena;
    this.#threads = threads;
    this.#records = new Scratch(arena);
    this.#rooms = new Scratch(arena);
  }

  /**
   * Writes every entry above `magnitude` and the first `ties` entries at it, but no more
   * than `limit`. Returns how many.
   */
  compact(
    x: Vector,
    magnitude: number,
    ties: number,
    limit: number,
    first: number,
    { indices, values }: EntryPlace,
  ): number {
    const threads = this.#threads;
    const offset = this.#reserveRecords(x.length);
    threads
      .job('countAtLeast', x.length)
      .elements(x)
      .length()
      .fixed(magnitude)
      .step(offset, RECORD_BYTES);
    const slices = threads.run();
    const records = this.#arena.u32(offset, RECORD_WORDS * slices);
    let place = 0;
    let tiesLeft = ties;
    for (let at = 0; at < records.length; at += RECORD_WORDS) {
      const equal = Math.min(tiesLeft, records[at + 1]!);
      const count = Math.min(limit - place, records[at]! + equal);
      tiesLeft -= equal;
      records[at] = place;
      records[at + 1] = count;
      records[at + 2] = equal;
      place += count;
    }
    threads
      .job('compactSlice', x.length)
      .elements(x)
      .length()
      .fixed(magnitude)
      .step(first, SLICE)
      .step(offset, RECORD_BYTES)
      .fixed(indices)
      .fixed(values);
    threads.run();
    return place;
  }

  /**
   * Collects the entries ≥ `magnitude` in the threads' rooms, for `place` to write.
   * Returns how many; undefined where there may be `capacity` or more, not all of which
   * were collected.
   */
  collect(
    x: Vector,
    magnitude: number,
    first: number,
    capacity: number,
  ): number | undefined {
    const threads = this.#threads;
    const { cursor, total, threadBytes, count } = threads;
    const offset = this.#reserveRecords(x.length);
    const rooms = this.#rooms.reserve(8 * capacity * count);
    this.#setWord(total, 0);
    for (let thread = 0; thread < count; thread++) {
      this.#setWord(cursor + thread * threadBytes, 0);
    }
    threads
      .job('collectSlice', x.length)
      .elements(x)
      .length()
      .fixed(magnitude)
      .step(first, SLICE)
      .step(offset, RECORD_BYTES)
      .own(cursor, threadBytes)
      .fixed(total)
      .fixed(capacity)
      .own(rooms, 8 * capacity)
      .own(rooms + 4 * capacity, 8 * capacity);
    threads.run();
    const found = this.#arena.u32(total, 1)[0]!;
    return found < capacity ? found : undefined;
  }

  /**
   * Copies the first `limit` entries collected of n to their place. Returns how many;
   * undefined, and nothing done, where entries before the last of them were passed over.
   */
  place(n: number, limit: number, { indices, values }: EntryPlace): number | undefined {
    const threads = this.#threads;
    const offset = this.#reserveRecords(n);
    const slices = Math.ceil(n / SLICE);
    const records = this.#arena.u32(offset, RECORD_WORDS * slices);
    let place = 0;
    for (let at = 0; at < records.length; at += RECORD_WORDS) {
      const count = Math.min(limit - place, records[at + 1]!);
      const incomplete = records[at] === 1;
      records[at] = place;
      records[at + 1] = count;
      place += count;
      if (incomplete && place < limit) return undefined;
    }
    threads
      .job('placeSlice', n)
      .step(offset, RECORD_BYTES)
      .fixed(indices)
      .fixed(values);
    threads.run();
    return place;
  }

  #setWord(offset: number, value: number): void {
    this.#arena.u32(offset, 1)[0] = value;
  }

  #reserveRecords(n: number): number {
    return this.#records.reserve(RECORD_BYTES * Math.ceil(n / SLICE));
  }
}
