/**
 * A model's statistics over many training batches, for its evaluations: means of those of the
 * batches, in f64. A variance lies around its batch's own mean, so the variance of all samples is
 * the mean of the batches' and that of their means. It is never a difference of squares, which
 * cancels where the mean is far from 0.
 */
import type { ModelStatistic } from './models/model.ts';

interface Total {
  readonly sum: Float64Array;
  /** The squares of what it has more than the first batch, if something lies around it. */
  readonly squares: Float64Array | undefined;
  readonly first: Float64Array;
}

export class StatisticMeans {
  readonly #statistics: readonly ModelStatistic[];
  readonly #totals: readonly Total[];
  #batches = 0;

  constructor(statistics: readonly ModelStatistic[]) {
    this.#statistics = statistics;
    this.#totals = statistics.map(({ name, shape }) => {
      const zeros = (): Float64Array =>
        new Float64Array(shape.reduce((product, size) => product * size, 1));
      const isCentre = statistics.some(({ around }) => around === name);
      return {
        sum: zeros(),
        first: zeros(),
        squares: isCentre ? zeros() : undefined,
      };
    });
  }

  /** @param values those of a batch, in the model's order */
  add(values: readonly ArrayLike<number>[]): void {
    this.#batches++;
    for (const [which, { first, squares, sum }] of this.#totals.entries()) {
      for (let i = 0; i < sum.length; i++) {
        const value = values[which]![i]!;
        if (this.#batches === 1) first[i] = value;
        const more = value - first[i]!;
        sum[i]! += more;
        if (squares !== undefined) squares[i]! += more * more;
      }
    }
  }

  /** Returns the statistics that an evaluation uses, in the model's order. */
  values(): readonly Float32Array[] {
    return this.#totals.map(({ first, sum }, which) => {
      const { around } = this.#statistics[which]!;
      const centre = this.#statistics.findIndex(({ name }) => name === around);
      return Float32Array.from(sum, (total, i) => {
        const mean = first[i]! + total / this.#batches;
        return around === undefined ? mean : mean + this.#spread(centre, i);
      });
    });
  }

  /** The variance of the batches' values of a statistic. */
  #spread(which: number, i: number): number {
    const { squares, sum } = this.#totals[which]!;
    const mean = sum[i]! / this.#batches;
    return Math.max(0, squares![i]! / this.#batches - mean * mean);
  }
}
