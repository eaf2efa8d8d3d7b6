/**
 * A data set whose samples are rows of bytes of one shape, such as images, each with a
 * class: the usual case, which needs only the bytes. Models see them as numbers in 0…1
 * (`inputs`), minus a mean and divided by a deviation if the set defines them, and the
 * class (`labels`).
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

/** The values in memory. */
export interface ByteSamples {
  readonly count: number;
  /** count × sampleLength; sample j is values[j·sampleLength …]. */
  readonly values: Uint8Array;
  /** count classes, 0…classes−1. */
  readonly labels: Uint8Array;
}

interface Channel {
  readonly mean: number;
  readonly deviation: number;
}

export interface ByteDatasetDefinition extends Pick<
  Dataset,
  'id' | 'title' | 'summary' | 'needsData'
> {
  readonly sampleShape: readonly number[];
  /**
   * Mean and deviation of each channel (the last axis), by which values in 0…1 are
   * normalised.
   */
  readonly channels?: readonly Channel[] | undefined;
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
  const numbers = numbersOf(definition.channels);
  const asSamples = (bytes: ByteSamples) => new Bytes(bytes, length, numbers);
  return {
    id,
    title,
    summary,
    needsData,
    fields: {
      inputs: { type: 'f32', shape: sampleShape },
      labels: { type: 'i32', shape: [], below: classes },
    },
    sampleBytes: length + 1,
    inspect: (request) => definition.inspect(request),
    open: async (request) => {
      const { train, test } = await definition.open(request);
      return { train: asSamples(train), test: asSamples(test) };
    },
  };
}

const BYTES = 256;

/** The value of each byte: a table of 256 numbers for each channel, one after the other. */
function numbersOf(
  channels: readonly Channel[] = [{ mean: 0, deviation: 1 }],
): Float32Array {
  return Float32Array.from({ length: BYTES * channels.length }, (_, i) => {
    const { mean, deviation } = channels[Math.floor(i / BYTES)]!;
    return ((i % BYTES) / 255 - mean) / deviation;
  });
}

class Bytes implements Samples, ByteSamples {
  readonly count: number;
  readonly values: Uint8Array;
  readonly labels: Uint8Array;
  readonly #length: number;
  readonly #numbers: Float32Array;

  constructor(
    { count, values, labels }: ByteSamples,
    length: number,
    numbers: Float32Array,
  ) {
    this.count = count;
    this.values = values;
    this.labels = labels;
    this.#length = length;
    this.#numbers = numbers;
  }

  read(rows: Uint32Array, { inputs, labels }: BatchValues): void {
    const { values } = this;
    const length = this.#length;
    const numbers = this.#numbers;
    for (let row = 0; row < rows.length; row++) {
      const sample = rows[row]!;
      if (inputs !== undefined) {
        const from = sample * length;
        const to = row * length;
        if (numbers.length === BYTES) {
          for (let i = 0; i < length; i++) inputs[to + i] = numbers[values[from + i]!]!;
        } else {
          let table = 0;
          for (let i = 0; i < length; i++) {
            inputs[to + i] = numbers[table + values[from + i]!]!;
            table += BYTES;
            if (table === numbers.length) table = 0;
          }
        }
      }
      if (labels !== undefined) labels[row] = this.labels[sample]!;
    }
  }
}
