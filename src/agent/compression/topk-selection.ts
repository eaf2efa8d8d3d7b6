/**
 * The k largest |p|, exactly: of a bucket as a whole, of each run of it, or of each layer
 * that has a ratio of its own and the rest between.
 */
import type { Region, Vector } from '../kernels/arena.ts';
import { sparseBytes, type SparseStream } from '../kernels/kernels.ts';
import {
  closeStream,
  entriesPerRun,
  type StreamRoom,
} from '../kernels/sparsification.ts';
import type { CompressorContext } from './method.ts';
import { parseRates, segmentsOf, type Segment } from './policy/layer-rates.ts';
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
  /** `policy/layer-rates.ts` */
  readonly layers: string;
}

/** A selection whose size is known before it is made. */
export interface CountedSelection extends Selection {
  count(iteration: number): number;
}

export function topkSelection(
  context: CompressorContext<TopKParameters>,
): CountedSelection {
  const rates = parseRates(context.parameters.layers) ?? [];
  const segments = segmentsOf(context.tensors, rates);
  return segments.some(({ ratio }) => ratio !== undefined)
    ? new LayeredTopK(context, segments)
    : new TopKSelection(context);
}

class TopKSelection implements CountedSelection {
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
    const { length } = this.#context;
    return entriesPerRun(length, this.#run, ...this.#entries(ratio));
  }

  #entries(ratio: number): [number, number] {
    const { k } = this.#context.parameters;
    return [
      entriesSent(this.#run, { ratio, k }),
      entriesSent(this.#tail, { ratio, k }),
    ];
  }
}

/** One selection for each segment; a layer with a ratio of its own has neither k nor runs. */
class LayeredTopK implements CountedSelection {
  readonly capacity: number;
  readonly #context: CompressorContext<TopKParameters>;
  readonly #parts: readonly {
    readonly segment: Segment;
    readonly selection: TopKSelection;
  }[];
  /** For the selection of one segment, with indices of its own. */
  readonly #scratch: Region;

  constructor(
    context: CompressorContext<TopKParameters>,
    segments: readonly Segment[],
  ) {
    const { arena, parameters } = context;
    this.#context = context;
    this.#parts = segments.map((segment) => {
      const own =
        segment.ratio === undefined
          ? parameters
          : { ...parameters, ratio: segment.ratio, rampIterations: 0, k: 0, bucket: 0 };
      const part = { ...context, length: segment.length, parameters: own };
      return { segment, selection: new TopKSelection(part) };
    });
    const capacities = this.#parts.map(({ selection }) => selection.capacity);
    this.capacity = capacities.reduce((sum, capacity) => sum + capacity, 0);
    this.#scratch = arena.allocate(sparseBytes(Math.max(...capacities)));
  }

  select(p: Vector, iteration: number, { offset }: Region): SparseStream {
    const { arena } = this.#context;
    const room: StreamRoom = { offset, capacity: this.capacity };
    let count = 0;
    for (const { segment, selection } of this.#parts) {
      const x = { offset: p.offset + 4 * segment.start, length: segment.length };
      const part = selection.select(x, iteration, this.#scratch);
      const from = arena.u32(part.offset, 2 * part.count);
      const indices = arena.u32(offset + 4 * count, part.count);
      for (let i = 0; i < part.count; i++) indices[i] = segment.start + from[i]!;
      arena
        .u32(offset + 4 * (room.capacity + count), part.count)
        .set(from.subarray(part.count));
      count += part.count;
    }
    return closeStream(arena, room, count);
  }

  count(iteration: number): number {
    return this.#parts.reduce(
      (sum, { selection }) => sum + selection.count(iteration),
      0,
    );
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#scratch);
  }
}
