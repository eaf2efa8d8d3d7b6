/**
 * The interface of a data set: samples of named fields, split into a training and a test
 * part, from which a rank takes its shard. A new data set is one file with this interface
 * and one line in registry.ts. Rows of bytes with a class each need less
 * (byte-dataset.ts).
 */
import type { DatasetEntry } from '../../../shared/catalogue/catalogue.ts';
import type { BatchField, BatchValues, ModelFields } from '../batches/batch.ts';

export interface Samples {
  readonly count: number;
  /**
   * Writes these samples into a batch, row by row.
   * @param rows numbers of samples, 0…count−1
   */
  read(rows: Uint32Array, batch: BatchValues): void;
}

export interface RankShard<S extends Samples = Samples> {
  /** Equal in size on all ranks, disjoint. */
  readonly train: S;
  /** Test shards, disjoint, together the whole test part; sizes differ by one at most. */
  readonly test: S;
  /** The longest value in this shard of each field whose length varies. */
  readonly lengths?: Readonly<Record<string, number>> | undefined;
}

export interface DatasetSize {
  readonly train: number;
  readonly test: number;
  /** A notice about the data, for instance a makeshift split. */
  readonly notice?: string | undefined;
  /** Bytes in memory of all samples, which the ranks share, where samples differ in size. */
  readonly bytes?: number | undefined;
  /** Bytes in memory that every rank needs, however many there are. */
  readonly bytesEach?: number | undefined;
}

/** Columns of a table (`workload.columns`), by name. */
export interface ColumnNames {
  readonly label?: string | undefined;
  readonly numeric?: readonly string[] | undefined;
  readonly categorical?: readonly string[] | undefined;
}

export interface DatasetRequest {
  /** The model's fields, by which a data set may cut its samples. */
  readonly inputs: ModelFields;
  /** Features of a sample (`workload.features`), if the data set has `features`. */
  readonly features?: number | undefined;
  /** The columns, if the data set `takesColumns`. */
  readonly columns?: ColumnNames | undefined;
  /** Samples to generate (`workload.samples`), if the data set `takesSamples`. */
  readonly samples?: number | undefined;
  /** Path of the files (`workload.data`); unused by embedded sets. */
  readonly directory?: string | undefined;
}

/** The value that makes a model as large as it is. */
export interface SizeCause {
  readonly what: string;
  /** File and line. */
  readonly place: string;
}

export interface ShardRequest extends DatasetRequest {
  readonly rank: number;
  readonly world: number;
}

/**
 * A field of a data set. With the length `any` it provides as many numbers as the model
 * takes; a length that `varies` differs per sample and is padded with 0.
 */
export interface DatasetField extends Omit<BatchField, 'shape' | 'below'> {
  readonly shape: readonly (number | 'any' | 'varies')[];
  /**
   * `known`: the data set ensures that there are no more different values than the model
   * knows.
   */
  readonly below?: number | 'known' | undefined;
}

export interface Dataset extends DatasetEntry {
  readonly fields: Readonly<Record<string, DatasetField>>;
  /**
   * Reads the number of features of sparse samples, whose field `features` names features, if the
   * spec does not give it.
   * @throws GradwireError `DATA_*`
   */
  features?(directory: string | undefined): number;
  /** Bytes of a sample in memory, where all have as many. */
  readonly sampleBytes?: number | undefined;
  /** Names the value in a file that decides the number of features. */
  featuresFrom?(directory: string | undefined): SizeCause;
  /**
   * Whether `inspect` and `features` read whole files; another process then calls them.
   */
  readonly readsWhole?: boolean | undefined;
  /**
   * Sizes, only from headers unless it `readsWhole`.
   * @throws GradwireError `DATA_*` if the directory does not hold the set.
   */
  inspect(request: DatasetRequest): DatasetSize;
  /**
   * The shard of a rank.
   * @throws GradwireError `DATA_*` if a file is missing, damaged or not what it should
   * be: the file, the offset and what was expected.
   */
  open(request: ShardRequest): Promise<RankShard>;
}
