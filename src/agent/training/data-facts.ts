/** Facts about a workload's data, which its files are read for. */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { DatasetSize, SizeCause } from './datasets/dataset.ts';
import { datasets } from './datasets/registry.ts';
import { featuresOf, modelFor, type WorkloadOptions } from './find-workload.ts';
import type { ModelFacts } from './model-facts.ts';
import { models } from './models/registry.ts';
import { isSynthetic } from './synthetic/synthetic-workload.ts';
import { unknownName } from './unknown-name.ts';

/** The contents of a data set's files. */
export interface DataFacts extends DatasetSize {
  /** Features of a sample, where the data set has sparse ones. */
  readonly features?: number | undefined;
  /** The value that decides the number of features. */
  readonly featuresFrom?: SizeCause | undefined;
}

/** Facts of a spec that have already been read (`inspectSpec`). */
export interface SpecFacts {
  /** The model, where it comes from a file. */
  readonly model?: ModelFacts | undefined;
  /** The data, where its files have to be read whole. */
  readonly data?: DataFacts | undefined;
}

/** Whether `factsOfData` reads whole files, which may take minutes. */
export function readsWholeFiles(workload: ExperimentSpec['workload']): boolean {
  if (isSynthetic(workload) || isProgram(workload)) return false;
  if (workload.data === undefined) return false;
  return datasets.get(workload.dataset)?.readsWhole === true;
}

/** The query to a workload's data set. */
export type DataQuestion = Pick<
  ExperimentSpec['workload'],
  'columns' | 'data' | 'dataset' | 'features' | 'model' | 'samples'
>;

/**
 * Reads the facts, and does not check whether the spec fits together.
 * @throws GradwireError `MODEL_UNKNOWN`, `MODEL_DATASET_MISMATCH`, `DATA_*`
 */
export function factsOfData({
  own,
  workload,
}: {
  readonly workload: DataQuestion;
  readonly own?: ModelFacts | undefined;
}): DataFacts {
  const dataset = datasets.get(workload.dataset)!;
  const known = own ?? models.get(workload.model);
  if (known === undefined) {
    throw unknownName('MODEL', 'workload.model', workload.model, models);
  }
  const features = featuresOf(workload, dataset);
  const model = modelFor(known, features, dataset);
  return sizeOf(workload, { dataset, features, model });
}

/**
 * The data set's size, with its features.
 * @throws GradwireError `DATA_*`
 */
export function sizeOf(
  { columns, data, samples }: DataQuestion,
  parts: Pick<WorkloadOptions<ModelFacts>, 'dataset' | 'features' | 'model'>,
): DataFacts {
  const { dataset, features, model } = parts;
  const { inputs } = model;
  const request = { inputs, features, columns, samples, directory: data };
  const size = dataset.inspect(request);
  return {
    ...size,
    ...(features === undefined ? {} : { features }),
    ...(dataset.featuresFrom === undefined
      ? {}
      : { featuresFrom: dataset.featuresFrom(data) }),
  };
}
