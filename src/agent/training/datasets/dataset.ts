/**
 * What a data set is to training: samples of a fixed shape with a class each, split
 * into a training and a test part, from which a rank takes its shard. A new data set is
 * one file with this interface and one line in registry.ts.
 */
import type { DatasetEntry } from '../../../shared/catalogue.ts';

/** Samples in memory, as bytes: models see them as numbers in 0…1. */
export interface Samples {
  readonly count: number;
  /** count × sampleLength; sample j is values[j·sampleLength …]. */
  readonly values: Uint8Array;
  /** count classes, 0…classes−1. */
  readonly labels: Uint8Array;
}

export interface RankShard {
  /** Equal in size on all ranks, disjoint. */
  readonly train: Samples;
  /** Disjoint, together the whole test part; sizes differ by one at most. */
  readonly test: Samples;
}

export interface DatasetSize {
  readonly train: number;
  readonly test: number;
  /** What the user should know about what was found, for instance a makeshift split. */
  readonly notice?: string | undefined;
}

export interface ShardRequest {
  readonly rank: number;
  readonly world: number;
  /** Where the files are (`workload.data`); unused by embedded sets. */
  readonly directory?: string | undefined;
}

export interface Dataset extends DatasetEntry {
  readonly sampleShape: readonly number[];
  readonly classes: number;
  /**
   * Sizes, from headers alone, at once.
   * @throws GradwireError `DATA_*` where the directory does not hold the set.
   */
  inspect(directory: string | undefined): DatasetSize;
  /**
   * The shard of a rank.
   * @throws GradwireError `DATA_*` where a file is missing, damaged or not what it
   * should be: the file, the offset and what was expected.
   */
  open(request: ShardRequest): Promise<RankShard>;
}

/** Values per sample. */
export function sampleLength(dataset: Pick<Dataset, 'sampleShape'>): number {
  return dataset.sampleShape.reduce((product, size) => product * size, 1);
}
