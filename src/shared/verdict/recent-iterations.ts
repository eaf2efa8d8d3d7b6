/**
 * The last iterations of a run at full resolution: one slot per iteration in a ring of
 * typed arrays, a row per rank in each slot. A record finds its slot by its iteration,
 * so that records may come in any order and twice.
 *
 *   slot     0    1    2    …  capacity−1
 *          ┌────┬────┬────┬───┬────┐
 *          │4096│4097│ 2  │ 3 │4095│   iteration kept in the slot
 *          └────┴────┴────┴───┴────┘   each: ranks × FIELD_COUNT numbers
 *
 * Adding a record is O(fields), reading an iteration O(ranks · fields). Memory is
 * bounded at the start and never grows.
 */
import type { IterationRecord } from '../records/iteration.ts';
import { COLUMN, FIELD_COUNT, writeRow, type Field } from '../records/chart-fields.ts';

export type AddOutcome = 'added' | 'duplicate' | 'too-old';

export class RecentIterations {
  readonly ranks: number;
  readonly capacity: number;
  /**
   * Rows of `placeOf`. No views of them are handed out: charts read a hundred thousand rows a
   * second, and to collect as many views would block the page.
   */
  readonly rows: Float64Array;
  readonly #iterations: Float64Array;
  readonly #seen: Uint8Array;
  /** Total time that other ranks spent waiting for this rank, by slot and rank. */
  readonly #awaited: Float64Array;
  readonly #newestOf: Float64Array;

  constructor(ranks: number, capacity = 4096) {
    this.ranks = ranks;
    this.capacity = capacity;
    this.rows = new Float64Array(capacity * ranks * FIELD_COUNT);
    this.#iterations = new Float64Array(capacity).fill(-1);
    this.#seen = new Uint8Array(capacity * ranks);
    this.#awaited = new Float64Array(capacity * ranks);
    this.#newestOf = new Float64Array(ranks).fill(-1);
  }

  /** The newest iteration that any rank has reported; −1: none yet. */
  get newest(): number {
    let newest = -1;
    for (const iteration of this.#newestOf) newest = Math.max(newest, iteration);
    return newest;
  }

  /** The newest iteration that every rank has reported; −1: none yet. */
  get newestComplete(): number {
    let newest = Infinity;
    for (const iteration of this.#newestOf) newest = Math.min(newest, iteration);
    return newest;
  }

  /** The first iteration that can still be held. */
  get oldest(): number {
    return Math.max(0, this.newest - this.capacity + 1);
  }

  add(record: IterationRecord): AddOutcome {
    const { rank, iteration } = record;
    if (rank >= this.ranks) throw new Error(`internal: rank ${rank} of ${this.ranks}`);
    const slot = iteration % this.capacity;
    const held = this.#iterations[slot]!;
    if (held > iteration) return 'too-old';
    if (held < iteration) {
      this.#iterations[slot] = iteration;
      this.#seen.fill(0, slot * this.ranks, (slot + 1) * this.ranks);
      this.#awaited.fill(0, slot * this.ranks, (slot + 1) * this.ranks);
    }
    const cell = slot * this.ranks + rank;
    if (this.#seen[cell] === 1) return 'duplicate';
    this.#seen[cell] = 1;
    writeRow(record, this.rows, cell * FIELD_COUNT);
    if (record.waitedFor !== undefined) {
      for (const key in record.waitedFor) {
        const awaited = Number(key);
        if (awaited < this.ranks) {
          this.#awaited[slot * this.ranks + awaited]! += record.waitedFor[key]!;
        }
      }
    }
    if (iteration > this.#newestOf[rank]!) this.#newestOf[rank] = iteration;
    return 'added';
  }

  /** Whether all ranks have reported it. */
  isComplete(iteration: number): boolean {
    for (let rank = 0; rank < this.ranks; rank++) {
      if (!this.has(iteration, rank)) return false;
    }
    return true;
  }

  has(iteration: number, rank: number): boolean {
    const slot = iteration % this.capacity;
    return (
      this.#iterations[slot] === iteration && this.#seen[slot * this.ranks + rank] === 1
    );
  }

  /** One number of one rank; NaN if it was not observed or is no longer held. */
  value(iteration: number, rank: number, field: Field): number {
    const place = this.placeOf(iteration, rank);
    return place < 0 ? NaN : this.rows[place + COLUMN[field]]!;
  }

  /** The place in `rows` at which a rank's row begins; −1: not held. */
  placeOf(iteration: number, rank: number): number {
    if (!this.has(iteration, rank)) return -1;
    return ((iteration % this.capacity) * this.ranks + rank) * FIELD_COUNT;
  }

  /** The mean over the ranks that reported this iteration; NaN if none did. */
  mean(iteration: number, field: Field): number {
    let sum = 0;
    let count = 0;
    for (let rank = 0; rank < this.ranks; rank++) {
      const value = this.value(iteration, rank, field);
      if (!Number.isNaN(value)) {
        sum += value;
        count += 1;
      }
    }
    return count === 0 ? NaN : sum / count;
  }

  /** Milliseconds that the other ranks together waited for `rank` in an iteration. */
  awaited(iteration: number, rank: number): number {
    const slot = iteration % this.capacity;
    if (this.#iterations[slot] !== iteration) return 0;
    return this.#awaited[slot * this.ranks + rank]!;
  }
}
