/** The model, data set and optimiser that a workload names, and whether they fit together. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { ColumnNames, Dataset } from './datasets/dataset.ts';
import { datasets } from './datasets/registry.ts';
import { isSized, type ModelFacts } from './model-facts.ts';
import type { Model, SizedModel } from './models/model.ts';
import { models } from './models/registry.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { optimizers } from './optimizers/registry.ts';
import { misfitOf } from './sample-fit.ts';
import { unknownName } from './unknown-name.ts';

/** The names in a workload, and the choices that go with them. */
export interface WorkloadNames {
  readonly model: string;
  readonly dataset: string;
  readonly optimizer: string;
  /** Features of sparse samples; default: the data set is asked. */
  readonly features?: number | undefined;
  readonly columns?: ColumnNames | undefined;
  /** Samples to generate; default: the data set's own number. */
  readonly samples?: number | undefined;
  readonly data?: string | undefined;
}

/** The definitions that a workload names. */
export interface WorkloadOptions<M extends ModelFacts = Model> {
  readonly model: M | Model;
  readonly dataset: Dataset;
  readonly optimizer: Optimizer;
  /** Features of a sample, where the data set has sparse ones. */
  readonly features?: number | undefined;
}

/**
 * The model, data set and optimiser of these names.
 * @param own the model, if it comes from a file
 * @throws GradwireError `MODEL_UNKNOWN`, `DATASET_UNKNOWN`, `OPTIMIZER_UNKNOWN` with the
 * nearest name; `MODEL_DATASET_MISMATCH` if samples do not fit the model; `COLUMNS_IDLE`,
 * `FEATURES_IDLE`, `SAMPLES_IDLE`; `OPTIMIZER_TABLE_MISFIT`; the data set's errors about its features.
 */
export function findWorkload<M extends ModelFacts = Model>(
  names: WorkloadNames,
  own?: M,
): WorkloadOptions<M> {
  const known = own ?? models.get(names.model);
  if (known === undefined) {
    throw unknownName('MODEL', 'workload.model', names.model, models);
  }
  const dataset = datasets.get(names.dataset);
  if (dataset === undefined) {
    throw unknownName('DATASET', 'workload.dataset', names.dataset, datasets);
  }
  const optimizer = findOptimizer(names.optimizer);
  requireColumnsUsed(names, dataset);
  requireSamplesUsed(names, dataset);
  const features = featuresOf(names, dataset);
  const model = modelFor(known, features, dataset);
  const misfit = misfitOf(model, dataset, features);
  if (misfit !== undefined)
    throw mismatch(misfit, fittingNames(model, dataset, features));
  requireTableRule(model, optimizer);
  return { model, dataset, optimizer, features };
}

/** @throws GradwireError `COLUMNS_IDLE` */
function requireColumnsUsed(
  { columns }: WorkloadNames,
  { id, takesColumns }: Dataset,
): void {
  if (columns === undefined || takesColumns === true) return;
  throw inputError('COLUMNS_IDLE', `${id} has no columns to choose`, {
    place: 'workload.columns',
    next: 'Remove it.',
  });
}

/** @throws GradwireError `SAMPLES_IDLE` */
function requireSamplesUsed(
  { samples }: WorkloadNames,
  { id, takesSamples }: Dataset,
): void {
  if (samples === undefined || takesSamples === true) return;
  const can = [...datasets.values()].filter((each) => each.takesSamples === true);
  throw inputError('SAMPLES_IDLE', `the number of samples of ${id} is fixed`, {
    place: 'workload.samples',
    next: `Remove it, or use the data set ${can.map((each) => each.id).join(' or ')}.`,
  });
}

/** Whether an optimiser keeps a velocity of the decay alone where a method has the gradient's. */
export const decayHasVelocity = (settings: ExperimentSpec['optimizer']): boolean =>
  optimizers.get(settings.kind)?.decayHasVelocity?.(settings) === true;

/**
 * The optimiser of that name.
 * @throws GradwireError `OPTIMIZER_UNKNOWN`
 */
export function findOptimizer(kind: string): Optimizer {
  const optimizer = optimizers.get(kind);
  if (optimizer !== undefined) return optimizer;
  throw unknownName('OPTIMIZER', 'optimizer.kind', kind, optimizers);
}

/**
 * Features of a sample; undefined if the data set has dense ones.
 * @throws GradwireError `FEATURES_IDLE`; what the data set says
 */
export function featuresOf(
  { features, data }: Pick<WorkloadNames, 'features' | 'data'>,
  dataset: Dataset,
): number | undefined {
  if (dataset.features !== undefined) return features ?? dataset.features(data);
  if (features === undefined) return undefined;
  throw inputError('FEATURES_IDLE', `${dataset.id} has no sparse samples`, {
    place: 'workload.features',
    next: 'Remove it.',
  });
}

/**
 * The model, in the size that the data set's features give it.
 * @throws GradwireError `MODEL_DATASET_MISMATCH`
 */
export function modelFor<M extends ModelFacts>(
  known: M | Model | SizedModel,
  features: number | undefined,
  dataset: Dataset,
): M | Model {
  return isSized(known) ? sized(known, features, dataset) : known;
}

function sized(
  model: SizedModel,
  features: number | undefined,
  { id }: Dataset,
): Model {
  if (features !== undefined) return model.ofFeatures(features);
  throw mismatch(`${model.id} needs sparse samples, but those of ${id} are dense`);
}

const mismatch = (
  what: string,
  next = 'Choose a model and a data set that fit together.',
): GradwireError =>
  inputError('MODEL_DATASET_MISMATCH', what, { place: 'workload', next });

/** Names the models and data sets that would fit: `With csv use dlrm; …`. */
function fittingNames(
  model: ModelFacts,
  dataset: Dataset,
  features: number | undefined,
): string {
  const fitting = [...models.values()].filter((other) =>
    isSized(other)
      ? dataset.features !== undefined
      : misfitOf(other, dataset, features) === undefined,
  );
  const others = [...datasets.values()].filter(
    (other) => misfitOf(model, other, undefined) === undefined,
  );
  return `${useText(dataset.id, fitting)} ${useText(model.id, others)}`;
}

const useText = (id: string, fitting: readonly { readonly id: string }[]): string =>
  fitting.length === 0
    ? `Nothing built in fits ${id}.`
    : `With ${id} use ${fitting.map((each) => each.id).join(' or ')}.`;

/** @throws GradwireError `OPTIMIZER_TABLE_MISFIT` */
function requireTableRule(model: ModelFacts, optimizer: Optimizer): void {
  const { id } = model;
  const table = tableOf(model);
  if (table === undefined || optimizer.tableRule !== undefined) return;
  const can = [...optimizers.values()].filter((each) => each.tableRule !== undefined);
  throw inputError(
    'OPTIMIZER_TABLE_MISFIT',
    `${optimizer.id} cannot train "${table.name}" of ${id}, a table of which a batch uses ` +
      'only a few rows',
    {
      place: 'optimizer.kind',
      next: `Use ${can.map((each) => each.id).join(' or ')}.`,
    },
  );
}

/** The model's first table of which a batch uses only a few rows. */
export const tableOf = ({ tensors }: ModelFacts) =>
  tensors.find(({ rowsOf }) => rowsOf !== undefined);
