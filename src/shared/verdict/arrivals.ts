/**
 * Arrivals in iterations that are held one by one: which rank arrived last in each, and how long the mean
 * rank waited for it, as in the series of a verdict. An iteration is looked at once, when all ranks have reported
 * it; after that it is three numbers, so that long parts are added up while a run goes on. O(ranks) for the
 * first look, O(1) for others.
 */
import { COLUMN } from '../records/chart-fields.ts';
import type { RecentIterations } from './recent-iterations.ts';
import { communicationOf } from './step-series.ts';
import type { Lateness } from './straggler.ts';

export class Arrivals {
  readonly #recent: RecentIterations;
  /** The iteration in each slot that has been looked at. */
  readonly #iterations: Float64Array;
  readonly #last: Uint32Array;
  readonly #lateness: Float64Array;
  readonly #step: Float64Array;

  constructor(recent: RecentIterations) {
    const { capacity } = recent;
    this.#recent = recent;
    this.#iterations = new Float64Array(capacity).fill(-1);
    this.#last = new Uint32Array(capacity);
    this.#lateness = new Float64Array(capacity);
    this.#step = new Float64Array(capacity);
  }

  /** Adds the complete iterations from ≤ i < to. */
  addTo(sums: Lateness, from: number, to: number): void {
    for (let iteration = from; iteration < to; iteration++) {
      const slot = iteration % this.#recent.capacity;
      if (this.#iterations[slot] !== iteration && !this.#look(iteration, slot))
        continue;
      sums.count(1, this.#step[slot]!);
      sums.against[this.#last[slot]!]! += this.#lateness[slot]!;
    }
  }

  /** @returns whether all ranks have reported it */
  #look(iteration: number, slot: number): boolean {
    const { ranks, rows } = this.#recent;
    if (!this.#recent.isComplete(iteration)) return false;
    let [wall, communication, least, last] = [0, 0, Infinity, 0];
    for (let rank = 0; rank < ranks; rank++) {
      const row = this.#recent.placeOf(iteration, rank);
      const waited = communicationOf(rows, row);
      wall += rows[row + COLUMN.wall]! / ranks;
      communication += waited / ranks;
      if (waited < least) [least, last] = [waited, rank];
    }
    this.#iterations[slot] = iteration;
    this.#last[slot] = last;
    this.#lateness[slot] = communication - least;
    this.#step[slot] = wall;
    return true;
  }
}
