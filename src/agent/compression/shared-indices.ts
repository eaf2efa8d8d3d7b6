/**
 * k indices that all ranks have in common, and the values at them, which therefore reduce
 * densely: no index travels with them and there is no fill-in, whatever P is. In memory
 * they lie as a sparse stream does, so that the reduced values are scattered as one.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { IndexList } from '../kernels/sparsification.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { CompressorContext, ExchangeStatistics } from './method.ts';

export class SharedIndices implements Disposable {
  /** The indices at its start, the values of `count` entries behind them. */
  readonly region: Region;
  readonly #context: CompressorContext;
  #count: number;
  #payload: Payload;

  constructor(context: CompressorContext, capacity: number) {
    this.#context = context;
    this.region = context.arena.allocate(sparseBytes(capacity));
    this.#count = capacity;
    this.#payload = this.#valuesPayload();
  }

  get list(): IndexList {
    return { offset: this.region.offset, count: this.#count };
  }

  /** The values, as they travel. */
  get payload(): Payload {
    return this.#payload;
  }

  /** There are `count` of them from here on, not more than there is memory for. */
  resize(count: number): void {
    if (count === this.#count) return;
    if (sparseBytes(count) > this.region.bytes) {
      throw new Error(`internal: no memory for ${count} shared indices`);
    }
    this.#count = count;
    this.#payload = this.#valuesPayload();
  }

  /**
   * The values of `x` at the indices.
   * @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE`
   */
  gather(x: Vector): Payload {
    this.#context.kernels.sparsification.gatherAt(x, this.list, this.#values());
    return this.#payload;
  }

  /** out ← the values' average over ranks at the indices, 0 elsewhere. */
  scatterAverage(combined: Combined, out: Vector): ExchangeStatistics {
    if (combined.form !== 'dense') {
      throw new Error(`internal: values at shared indices cannot be ${combined.form}`);
    }
    const { kernels, world } = this.#context;
    const values = this.#values();
    if (combined.data.offset !== values.offset) {
      kernels.copy(values, { offset: combined.data.offset, length: values.length });
    }
    kernels.fill(out, 0);
    kernels.scatterAdd(out, this.list, 1 / world);
    return { nnzLocal: this.#count, nnzReduced: this.#count };
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.region);
  }

  #values(): Vector {
    return { offset: this.region.offset + 4 * this.#count, length: this.#count };
  }

  #valuesPayload(): Payload {
    const { offset, length } = this.#values();
    return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
  }
}
