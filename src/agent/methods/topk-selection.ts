/** Selects exactly the k largest |p|, of a whole bucket or of each run of it. */
import { entriesPerRun } from '../kernels/sparsification.ts';
import type { Entries, Leave, Selector } from '../work/selection.ts';
import type { CompressorContext } from './method.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from './policy/ratio-schedule.ts';
import type { Selection } from './sparse-feedback.ts';

export interface TopKParameters extends RatioSchedule {
  /** Entries selected from each run; 0: the ratio decides. */
  readonly k: number;
  /** Elements of a run; 0: one run for all. */
  readonly bucket: number;
}

type Runs = Pick<TopKParameters, 'k' | 'bucket'> & { readonly ratio: number };

/** Number of entries selected from `length` elements. */
export function topKEntries(length: number, { bucket, ...given }: Runs): number {
  const run = bucket > 0 ? bucket : Math.max(1, length);
  const [k, tailK] = [entriesSent(run, given), entriesSent(length % run, given)];
  return entriesPerRun(length, run, k, tailK);
}

/** The selection's size is known in advance. */
export class TopKSelection<V> implements Selection<V> {
  readonly capacity: number;
  /** The destination of the selection. */
  readonly selector: Selector<V>;
  readonly #length: number;
  readonly #parameters: TopKParameters;
  /** Elements of a run: the whole bucket, if `bucket` is 0. */
  readonly #run: number;

  constructor({ length, parameters, work }: CompressorContext<TopKParameters, V>) {
    this.#length = length;
    this.#parameters = parameters;
    this.#run = parameters.bucket > 0 ? parameters.bucket : Math.max(1, length);
    this.capacity = this.#count(largestRatio(parameters));
    this.selector = work.selector(length, this.capacity);
  }

  select(p: V, iteration: number, leave: Leave): Entries<V> {
    const ratio = ratioAt(this.#parameters, iteration);
    const { selector } = this;
    const run = this.#run;
    if (run >= this.#length) return selector.topK(p, this.#count(ratio), leave);
    const { k } = this.#parameters;
    const whole = entriesSent(run, { ratio, k });
    const tail = entriesSent(this.#length % run, { ratio, k });
    return selector.topKPerRun(p, run, whole, tail, leave);
  }

  /** Number of entries selected at an iteration. */
  count(iteration: number): number {
    return this.#count(ratioAt(this.#parameters, iteration));
  }

  #count(ratio: number): number {
    const { bucket, k } = this.#parameters;
    return topKEntries(this.#length, { bucket, k, ratio });
  }
}
