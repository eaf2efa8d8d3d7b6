/** The k largest |p|, exactly: of a bucket as a whole, or of each run of it. */
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import { entriesPerRun } from '../kernels/sparsification.ts';
import type { CompressorContext } from './method.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from './policy/ratio-schedule.ts';
import type { Selection } from './sparse-feedback.ts';

export interface TopKParameters extends RatioSchedule {
  /** Entries of each run; 0: the ratio decides. */
  readonly k: number;
  /** Entries of a run; 0: all is one. */
  readonly bucket: number;
}

type Runs = Pick<TopKParameters, 'k' | 'bucket'> & { readonly ratio: number };

/** Entries that are selected of `length`. */
export function topKEntries(length: number, { bucket, ...given }: Runs): number {
  const run = bucket > 0 ? bucket : Math.max(1, length);
  const [k, tailK] = [entriesSent(run, given), entriesSent(length % run, given)];
  return entriesPerRun(length, run, k, tailK);
}

/** Its size is known before it is made. */
export class TopKSelection implements Selection {
  readonly capacity: number;
  readonly #context: CompressorContext<TopKParameters>;
  /** Entries of a run, and of the shorter last one: the whole bucket, if `bucket` is 0. */
  readonly #run: number;
  readonly #tail: number;

  constructor(context: CompressorContext<TopKParameters>) {
    const { length, parameters } = context;
    this.#context = context;
    this.#run = parameters.bucket > 0 ? parameters.bucket : Math.max(1, length);
    this.#tail = length % this.#run;
    this.capacity = this.#count(largestRatio(parameters));
  }

  select(p: Vector, iteration: number, out: Region): SparseStream {
    const { kernels, parameters } = this.#context;
    const ratio = ratioAt(parameters, iteration);
    if (this.#run >= p.length) return kernels.selectTopK(p, this.#count(ratio), out);
    const [k, tailK] = this.#entries(ratio);
    return kernels.sparsification.selectTopKPerRun(p, this.#run, k, tailK, out);
  }

  /** Entries that are selected at an iteration. */
  count(iteration: number): number {
    return this.#count(ratioAt(this.#context.parameters, iteration));
  }

  #count(ratio: number): number {
    const { length, parameters } = this.#context;
    const { bucket, k } = parameters;
    return topKEntries(length, { bucket, k, ratio });
  }

  #entries(ratio: number): [number, number] {
    const { k } = this.#context.parameters;
    return [
      entriesSent(this.#run, { ratio, k }),
      entriesSent(this.#tail, { ratio, k }),
    ];
  }
}
