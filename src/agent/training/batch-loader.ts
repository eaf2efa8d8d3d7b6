/** Samples on their way into the compiled functions, in arrays that are refilled. */
import { allocateBatch, type BatchFields, type BatchValues } from './batches/batch.ts';
import type { Samples } from './datasets/dataset.ts';
import type { JaxBatch } from './models/mean-loss.ts';
import type { Jax } from './runtime/jax-runtime.ts';

/** Reads samples into the fixed-size arrays that the compiled functions take. */
export class BatchLoader {
  readonly samples: Samples;
  /** Indices of the samples to read; set by the caller. */
  readonly rows: Uint32Array;
  /** 1 for rows that count, 0 for padding. */
  readonly counted: Float32Array<ArrayBuffer>;
  readonly fields: BatchFields;
  readonly values: BatchValues;

  /** @param values with room for the rows; default: memory of its own */
  constructor(
    samples: Samples,
    fields: BatchFields,
    rows: number,
    values = allocateBatch(fields, rows),
  ) {
    this.samples = samples;
    this.rows = new Uint32Array(rows);
    this.counted = new Float32Array(rows);
    this.fields = fields;
    this.values = values;
  }

  /** The first `counted` rows count. */
  read(counted: number): void {
    this.samples.read(this.rows, this.values);
    this.counted.fill(1, 0, counted).fill(0, counted);
  }

  upload({ numpy }: Jax): JaxBatch {
    const rows = this.rows.length;
    return Object.fromEntries(
      Object.entries(this.values).map(([name, values]) => {
        const shape = [rows, ...this.fields[name]!.shape];
        return [name, numpy.array(values, { shape })];
      }),
    );
  }
}
