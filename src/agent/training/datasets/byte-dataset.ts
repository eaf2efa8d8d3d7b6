/**
 * A data set whose samples are rows of bytes of one shape, such as images, with a class
 * each: the usual case, which needs no more than the bytes. Models see them as numbers in
 * 0…1 (`inputs`) and the class (`labels`).
 */
import { rowLength, type BatchValues } from '../batches/batch.ts';
import type {
  Dataset,
  DatasetRequest,
  DatasetSize,
  RankShard,
  Samples,
  ShardRequest,
} from './dataset.ts';

/** As they lie in memory. */
export interface ByteSamples {
  readonly count: number;
  /** count × sampleLength; sample j is values[j·sampleLength …]. */
  readonly values: Uint8Array;
  /** count classes, 0…classes−1. */
  readonly labels: Uint8Array;
}

export interface ByteDatasetDefinition extends Pick<
  Dataset,
  'id' | 'title' | 'summary' | 'needsData'
> {
  readonly sampleShape: readonly number[];
  readonly classes: number;
  inspect(request: Pick<DatasetRequest, 'directory'>): DatasetSize;
  open(request: Omit<ShardRequest, 'inputs'>): Promise<{
    readonly train: ByteSamples;
    readonly test: ByteSamples;
  }>;
}

export interface ByteDataset extends Dataset {
  inspect(request: Pick<DatasetRequest, 'directory'>): DatasetSize;
  open(request: Omit<ShardRequest, 'inputs'>): Promise<RankShard<Bytes>>;
}

/** Values per sample. */
export function sampleLength({
  sampleShape,
}: Pick<ByteDatasetDefinition, 'sampleShape'>): number {
  return rowLength({ shape: sampleShape });
}

export function byteDataset(definition: ByteDatasetDefinition): ByteDataset {
  const { id, title, summary, needsData, sampleShape, classes } = definition;
  const length = sampleLength(definition);
  return {
    ...{ id, title, summary, needsData },
    fields: {
      inputs: { type: 'f32', shape: sampleShape },
      labels: { type: 'i32', shape: [], below: classes },
    },
    inspect: (request) => definition.inspect(request),
    open: async (request) => {
      const { train, test } = await definition.open(request);
      return { train: new Bytes(train, length), test: new Bytes(test, length) };
    },
  };
}

class Bytes implements Samples, ByteSamples {
  readonly count: number;
  readonly values: Uint8Array;
  readonly labels: Uint8Array;
  readonly #length: number;

  constructor({ count, values, labels }: ByteSamples, length: number) {
    this.count = count;
    this.values = values;
    this.labels = labels;
    this.#length = length;
  }

  read(rows: Uint32Array, { inputs, labels }: BatchValues): void {
    const { values } = this;
    const length = this.#length;
    for (let row = 0; row < rows.length; row++) {
      const sample = rows[row]!;
      if (inputs !== undefined) {
        const from = sample * length;
        const to = row * length;
        for (let i = 0; i < length; i++) inputs[to + i] = values[from + i]! / 255;
      }
      if (labels !== undefined) labels[row] = this.labels[sample]!;
    }
  }
}
