/** Adds up what a model measured of some samples, in f64, block by block. */
import {
  orderedPairs,
  sortedByClass,
  type ClassScores,
} from '../../shared/numbers/ordered-pairs.ts';
import { isOfPairs, sumCount, type Metric } from './metrics/metric.ts';

/** Numbers that were computed, one for each sample or sum. */
export interface Measure {
  /** Reads them, once. */
  data(): Promise<ArrayLike<number>>;
}

export interface Measured {
  /** The sum of the losses. */
  readonly loss: number;
  /** Sums from which the metric is computed. */
  readonly sums: readonly number[];
  /** Scores by class, for a metric of pairs; none if one is NaN. */
  readonly scores: ClassScores | undefined;
}

const NONE: ClassScores = {
  positives: new Float32Array(),
  negatives: new Float32Array(),
};

export class MeasureTotals {
  readonly #metric: Metric;
  readonly #sums: number[];
  /** A score for each sample, for a metric of pairs; its class is in `#classes`. */
  readonly #scores: number[] = [];
  readonly #classes: number[] = [];
  #loss = 0;

  constructor(metric: Metric) {
    this.#metric = metric;
    this.#sums = Array.from({ length: sumCount(metric) }, () => 0);
  }

  /**
   * @param arrays from `measuresOf`, consumed: the losses, and what the metric needs
   * @param samples the first that count
   */
  async add(arrays: readonly Measure[], samples: number): Promise<void> {
    const [losses, ...measures] = await Promise.all(arrays.map((each) => each.data()));
    this.#loss += sumOf(losses!, samples);
    if (isOfPairs(this.#metric)) {
      for (let row = 0; row < samples; row++) {
        this.#scores.push(measures[0]![row]!);
        this.#classes.push(measures[1]![row]!);
      }
    } else if (this.#metric.tally !== undefined) {
      const [tally] = measures;
      for (const i of this.#sums.keys()) this.#sums[i] = this.#sums[i]! + tally![i]!;
    } else {
      for (const [i, each] of measures.entries()) {
        this.#sums[i] = this.#sums[i]! + sumOf(each, samples);
      }
    }
  }

  result(): Measured {
    const loss = this.#loss;
    if (!isOfPairs(this.#metric)) return { loss, sums: this.#sums, scores: undefined };
    const scores = sortedByClass(this.#scores, this.#classes);
    if (scores === undefined) return { loss, sums: [NaN, 0, 0], scores: NONE };
    const { negatives, positives } = scores;
    const sums = [orderedPairs(scores), positives.length, negatives.length];
    return { loss, sums, scores };
  }
}

function sumOf(values: ArrayLike<number>, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i]!;
  return sum;
}
