/**
 * A spec's workload against what this agent has: names are looked up in the registries,
 * the data directory is inspected by its headers. Done before a run is started, so that
 * a slip of the pen costs one clear error and no processes. Also the registries as the
 * catalogue lists them.
 */
import type { DatasetEntry, ModelEntry } from '../../shared/catalogue.ts';
import { inputError, type GradwireError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { nearest } from '../../shared/nearest.ts';
import { rowLength } from './batches/batch.ts';
import type { Dataset, DatasetField, DatasetSize } from './datasets/dataset.ts';
import { datasets } from './datasets/registry.ts';
import { trainShard } from './datasets/shard.ts';
import { parameterCount, type Model, type ModelTensor } from './models/model.ts';
import { models } from './models/registry.ts';
import { checkOptimizer } from './optimizers/check-optimizer.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { optimizers } from './optimizers/registry.ts';

export function describeModels(): ModelEntry[] {
  return [...models.values()].map((model) => ({
    id: model.id,
    title: model.title,
    summary: model.summary,
    parameterCount: parameterCount(model),
  }));
}

export function describeDatasets(): DatasetEntry[] {
  return [...datasets.values()].map(({ id, title, summary, needsData }) => ({
    id,
    title,
    summary,
    needsData,
  }));
}

export function describeOptimizers(): string[] {
  return [...optimizers.keys()];
}

export interface WorkloadNames {
  readonly model: string;
  readonly dataset: string;
  readonly optimizer: string;
}

/** What there is to know of a model before it is trained. */
export type ModelFacts = Pick<Model, 'id' | 'inputs'> & {
  readonly tensors: readonly Pick<ModelTensor, 'name' | 'shape'>[];
};

export interface WorkloadParts<M extends ModelFacts = Model> {
  readonly model: M | Model;
  readonly dataset: Dataset;
  readonly optimizer: Optimizer;
}

/**
 * The parts that names stand for.
 * @param own the model, where it comes from a file
 * @throws GradwireError `MODEL_UNKNOWN`, `DATASET_UNKNOWN`, `OPTIMIZER_UNKNOWN` with
 * the nearest name; `MODEL_DATASET_MISMATCH` where samples do not fit the model.
 */
export function findWorkload<M extends ModelFacts = Model>(
  names: WorkloadNames,
  own?: M,
): WorkloadParts<M> {
  const model = own ?? models.get(names.model);
  if (model === undefined) {
    throw unknown('MODEL', 'workload.model', names.model, models);
  }
  const dataset = datasets.get(names.dataset);
  if (dataset === undefined) {
    throw unknown('DATASET', 'workload.dataset', names.dataset, datasets);
  }
  const optimizer = optimizers.get(names.optimizer);
  if (optimizer === undefined) {
    throw unknown('OPTIMIZER', 'optimizer.kind', names.optimizer, optimizers);
  }
  const misfit = misfitOf(model, dataset);
  if (misfit !== undefined) {
    throw inputError('MODEL_DATASET_MISMATCH', misfit, {
      ...{
        place: 'workload',
        next: 'Choose a model and a data set that fit together.',
      },
    });
  }
  return { model, dataset, optimizer };
}

/** Why a model cannot take a data set's samples; undefined where it can. */
function misfitOf(model: ModelFacts, dataset: Dataset): string | undefined {
  for (const [name, wanted] of Object.entries(model.inputs)) {
    const field = dataset.fields[name];
    if (field === undefined) {
      const has = Object.keys(dataset.fields).join(', ');
      return `${model.id} takes "${name}", and a sample of ${dataset.id} has only: ${has}`;
    }
    const length = rowLengthOf(field, rowLength(wanted));
    if (field.type !== wanted.type || length !== rowLength(wanted)) {
      return (
        `"${name}": ${model.id} takes ${described(rowLength(wanted), wanted.type)}, ` +
        `${dataset.id} has ${described(length, field.type)}`
      );
    }
    if (wanted.below !== undefined && (field.below ?? Infinity) > wanted.below) {
      return (
        `"${name}": ${model.id} knows ${wanted.below} different values, ` +
        `${dataset.id} has ${field.below ?? 'any number of them'}`
      );
    }
  }
  return undefined;
}

/** Numbers in a row, where "any" is as many as are wanted. */
const rowLengthOf = ({ shape }: DatasetField, wanted: number): number =>
  shape.includes('any')
    ? wanted
    : rowLength({ shape: shape.filter((size) => size !== 'any') });

const described = (length: number, type: string): string =>
  `${length} ${type === 'f32' ? 'numbers' : 'whole numbers'}`;

/** What there is to know of a workload before it runs. */
export interface CheckedWorkload extends DatasetSize {
  /** The model's tensors, in the order of the flat gradient. */
  readonly tensors: readonly string[];
  /** The optimiser, where it cannot leave momentum to a method. */
  readonly ownMomentum?: string | undefined;
  /** In which every rank sees all of its shard once; no whole number, in general. */
  readonly iterationsPerEpoch: number;
}

/**
 * Everything about a workload that can be checked without running it; reads file
 * headers at most.
 * @param own the model, where it comes from a file
 * @returns the sizes of the data set, with a notice where the user should know more.
 * @throws GradwireError as `findWorkload` and `checkOptimizer`; `DATA_*` for the data
 * directory.
 */
export function checkWorkload(
  workload: ExperimentSpec['workload'],
  optimizer: ExperimentSpec['optimizer'],
  ranks = 1,
  own?: ModelFacts,
): CheckedWorkload {
  const {
    dataset,
    model,
    optimizer: rule,
  } = findWorkload(
    {
      model: workload.model,
      dataset: workload.dataset,
      optimizer: optimizer.kind,
    },
    own,
  );
  const { id, leavesMomentum } = rule;
  checkOptimizer(rule, optimizer);
  const size = dataset.inspect({ inputs: model.inputs, directory: workload.data });
  const { count } = trainShard(size.train, 0, ranks);
  return {
    ...size,
    tensors: model.tensors.map(({ name }) => name),
    iterationsPerEpoch: count / workload.batchPerRank,
    ...(leavesMomentum ? {} : { ownMomentum: id }),
  };
}

function unknown(
  code: string,
  place: string,
  value: string,
  registry: ReadonlyMap<string, unknown>,
): GradwireError {
  const known = [...registry.keys()];
  const suggestion = nearest(value, known);
  return inputError(`${code}_UNKNOWN`, `there is no ${code.toLowerCase()} "${value}"`, {
    place,
    next:
      suggestion === undefined
        ? `There is: ${known.join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}
