/**
 * Checks a spec's workload against this agent: looks up names in the registries and
 * inspects the data directory by its headers. Done before a run is started, so that a
 * typo costs one clear error and no processes. Also lists the registries for the
 * catalogue.
 */
import type {
  DatasetEntry,
  ModelEntry,
  OptimizerEntry,
} from '../../shared/catalogue/catalogue.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { formatCount } from '../../shared/words/units.ts';
import { rowLength, type ModelField } from './batches/batch.ts';
import type {
  ColumnNames,
  Dataset,
  DatasetField,
  DatasetSize,
  SizeCause,
} from './datasets/dataset.ts';
import { datasets } from './datasets/registry.ts';
import { trainShard } from './datasets/shard.ts';
import {
  parameterCount,
  type Model,
  type ModelTensor,
  type SizedModel,
} from './models/model.ts';
import type { MemoryFacts, MemoryTensor } from './memory-facts.ts';
import { isOfPairs } from './metrics/metric.ts';
import { isLayered, type ModelLayer } from './models/layered.ts';
import { models } from './models/registry.ts';
import { checkOptimizer } from './optimizers/check-optimizer.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { optimizers } from './optimizers/registry.ts';
import { checkProgram, programEntry, requireNoProgram } from './program-workload.ts';
import {
  isSynthetic,
  noDataEntry,
  syntheticEntry,
  syntheticWorkload,
} from './synthetic/synthetic-workload.ts';

export function describeModels(): ModelEntry[] {
  const trained = [...models.values()].map((model) => ({
    id: model.id,
    title: model.title,
    summary: model.summary,
    ...(isSized(model) ? {} : { parameterCount: parameterCount(model) }),
  }));
  return [...trained, syntheticEntry, programEntry];
}

export function describeDatasets(): DatasetEntry[] {
  const known = [...datasets.values()].map((dataset) => {
    const { id, title, summary, needsData, features, takesColumns } = dataset;
    return {
      id,
      title,
      summary,
      needsData,
      ...(features === undefined ? {} : { hasFeatures: true }),
      ...(takesColumns === undefined ? {} : { takesColumns }),
    };
  });
  return [...known, noDataEntry];
}

export function describeOptimizers(): OptimizerEntry[] {
  return [...optimizers.values()].map((optimizer) => ({
    id: optimizer.id,
    title: optimizer.title,
    summary: optimizer.summary,
    source: optimizer.source,
    options: optimizer.options,
    leavesMomentum: optimizer.leavesMomentum,
    trainsTables: optimizer.tableRule !== undefined,
  }));
}

export interface WorkloadNames {
  readonly model: string;
  readonly dataset: string;
  readonly optimizer: string;
  /** Features of sparse samples; default: the data set is asked. */
  readonly features?: number | undefined;
  readonly columns?: ColumnNames | undefined;
  readonly data?: string | undefined;
}

/** Facts about a model before it is trained. */
export type ModelFacts = Pick<Model, 'id' | 'inputs'> & {
  readonly tensors: readonly Pick<ModelTensor, 'name' | 'shape' | 'rowsOf'>[];
  /** Named layers, after which the model can be split. */
  readonly layers?: readonly LayerFacts[] | undefined;
};
export type LayerFacts = Pick<ModelLayer, 'name' | 'tensors'>;

/** Facts about a model's layers, if they have names. */
export function layerFacts({ layers }: ModelFacts): readonly LayerFacts[] | undefined {
  return layers?.map(({ name, tensors }) => ({ name, tensors }));
}

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
 * `FEATURES_IDLE`; `OPTIMIZER_TABLE_MISFIT`; the data set's errors about its features.
 */
export function findWorkload<M extends ModelFacts = Model>(
  names: WorkloadNames,
  own?: M,
): WorkloadOptions<M> {
  const known = own ?? models.get(names.model);
  if (known === undefined) {
    throw unknown('MODEL', 'workload.model', names.model, models);
  }
  const dataset = datasets.get(names.dataset);
  if (dataset === undefined) {
    throw unknown('DATASET', 'workload.dataset', names.dataset, datasets);
  }
  const optimizer = findOptimizer(names.optimizer);
  requireColumnsUsed(names, dataset);
  const features = featuresOf(names, dataset);
  const model = isSized(known) ? sized(known, features, dataset) : known;
  const misfit = misfitOf(model, dataset, features);
  if (misfit !== undefined) throw mismatch(misfit);
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

/** Whether an optimiser keeps a velocity of the decay alone where a method has the gradient's. */
export const decayHasVelocity = (settings: ExperimentSpec['optimizer']): boolean =>
  optimizers.get(settings.kind)?.decayHasVelocity?.(settings) === true;

/** @throws GradwireError `OPTIMIZER_UNKNOWN` */
function findOptimizer(kind: string): Optimizer {
  const optimizer = optimizers.get(kind);
  if (optimizer !== undefined) return optimizer;
  throw unknown('OPTIMIZER', 'optimizer.kind', kind, optimizers);
}

/** @throws GradwireError `FEATURES_IDLE`; what the data set says */
function featuresOf(
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

const isSized = (model: object): model is SizedModel => 'ofFeatures' in model;

function sized(
  model: SizedModel,
  features: number | undefined,
  { id }: Dataset,
): Model {
  if (features !== undefined) return model.ofFeatures(features);
  throw mismatch(`${model.id} needs sparse samples, but those of ${id} are dense`);
}

const mismatch = (what: string): GradwireError =>
  inputError('MODEL_DATASET_MISMATCH', what, {
    place: 'workload',
    next: 'Choose a model and a data set that fit together.',
  });

function memoryTensors(
  tensors: readonly Pick<ModelTensor, 'name' | 'shape' | 'rowsOf'>[],
): readonly MemoryTensor[] {
  let start = 0;
  return tensors.map(({ name, rowsOf, shape }) => {
    const length = rowLength({ shape });
    const placed = { name, shape, start, length, isTable: rowsOf !== undefined };
    start += length;
    return placed;
  });
}

const tableOf = ({ tensors }: ModelFacts) =>
  tensors.find(({ rowsOf }) => rowsOf !== undefined);

/** @throws GradwireError `OPTIMIZER_TABLE_MISFIT` */
function requireNoClipping(
  model: ModelFacts,
  { clipNorm }: ExperimentSpec['optimizer'],
): void {
  const table = tableOf(model);
  if (table === undefined || clipNorm === undefined) return;
  throw inputError(
    'OPTIMIZER_TABLE_MISFIT',
    `gradients of ${model.id} cannot be clipped, because "${table.name}" is a table of ` +
      'which a batch uses only a few rows',
    { place: 'optimizer.clipNorm', next: 'Remove it.' },
  );
}

/** @throws GradwireError `OPTIMIZER_TABLE_MISFIT` */
function requireTableRule(model: ModelFacts, optimizer: Optimizer): void {
  const { id } = model;
  const table = tableOf(model);
  if (table === undefined || optimizer.tableRule !== undefined) return;
  const can = [...optimizers.values()].filter(({ tableRule }) => tableRule);
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

/** Explains why a model cannot take a data set's samples; undefined if it can. */
function misfitOf(
  model: ModelFacts,
  dataset: Dataset,
  features: number | undefined,
): string | undefined {
  for (const [name, wanted] of Object.entries(model.inputs)) {
    const declared = dataset.fields[name];
    // Whole numbers of no known limit name features.
    const field =
      declared?.type === 'i32' && declared.below === undefined
        ? { ...declared, below: features }
        : declared;
    if (field === undefined) {
      const has = Object.keys(dataset.fields).join(', ');
      return `${model.id} needs "${name}", but a sample of ${dataset.id} has only: ${has}`;
    }
    if (field.type !== wanted.type || !fitTogether(wanted.shape, field.shape)) {
      return (
        `"${name}": ${model.id} takes ${described(wanted)}, ` +
        `${dataset.id} has ${described(field)}`
      );
    }
    const { below = Infinity } = field;
    if (wanted.below !== undefined && below !== 'known' && below > wanted.below) {
      return (
        `"${name}": ${model.id} takes at most ${wanted.below} different values, but ` +
        `${dataset.id} has ${field.below ?? 'an unlimited number'}`
      );
    }
  }
  return undefined;
}

/** Whether rows of one length can be those of the other. */
function fitTogether(wanted: ModelField['shape'], had: DatasetField['shape']): boolean {
  if (wanted.includes('any')) return !had.includes('any');
  return had.includes('any') || lengthOf(wanted) === lengthOf(had);
}

/** Numbers in a row; undefined if the length is open. */
function lengthOf(shape: DatasetField['shape']): number | undefined {
  const sizes = shape.filter((size) => typeof size === 'number');
  return sizes.length < shape.length ? undefined : rowLength({ shape: sizes });
}

const described = ({ shape, type }: DatasetField): string =>
  `${lengthOf(shape) ?? 'a varying number of'} ${type === 'f32' ? 'numbers' : 'whole numbers'}`;

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
  'columns' | 'data' | 'dataset' | 'features' | 'model'
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
    throw unknown('MODEL', 'workload.model', workload.model, models);
  }
  const features = featuresOf(workload, dataset);
  const model = isSized(known) ? sized(known, features, dataset) : known;
  return sizeOf(workload, { dataset, features, model });
}

function sizeOf(
  { columns, data }: DataQuestion,
  parts: Pick<WorkloadOptions<ModelFacts>, 'dataset' | 'features' | 'model'>,
): DataFacts {
  const { dataset, features, model } = parts;
  const { inputs } = model;
  const size = dataset.inspect({ inputs, features, columns, directory: data });
  return {
    ...size,
    ...(features === undefined ? {} : { features }),
    ...(dataset.featuresFrom === undefined
      ? {}
      : { featuresFrom: dataset.featuresFrom(data) }),
  };
}

const LEAVE_MOMENTUM = 'Use another method, or the optimizer sgd or lars.';

/** Facts about a workload before it runs. */
export interface CheckedWorkload extends DataFacts {
  readonly memory: MemoryFacts;
  /**
   * The model's tensors, in the order of the flat gradient; undefined for a program, which
   * states them when it runs.
   */
  readonly tensors: readonly string[] | undefined;
  /** The optimiser, where it cannot leave momentum to a method. */
  readonly ownMomentum?: { readonly name: string; readonly next: string } | undefined;
  /** The optimiser, where η times a gradient is no update. */
  readonly movesOtherwise?: string | undefined;
  /** The model's layers, in order, if it can be split after them. */
  readonly layers?: readonly LayerFacts[] | undefined;
  /** Weight decay λ; default: 0. */
  readonly weightDecay?: number | undefined;
  /**
   * Iterations in which every rank sees its whole shard once; generally not a whole
   * number.
   */
  readonly iterationsPerPass: number;
}

/**
 * Everything about a workload that can be checked without running it. Reads headers of files,
 * and whole files if necessary and not done before.
 * @returns the sizes of the data set, with a notice, if any.
 * @throws GradwireError as `findWorkload` and `checkOptimizer`; `DATA_*` for the data
 * directory.
 */
export function checkWorkload(
  workload: ExperimentSpec['workload'],
  optimizer: ExperimentSpec['optimizer'],
  ranks = 1,
  known: SpecFacts = {},
): CheckedWorkload {
  if (isProgram(workload)) return checkedProgram(workload);
  requireNoProgram(workload);
  if (isSynthetic(workload)) {
    checkOptimizer(findOptimizer(optimizer.kind), optimizer);
    return checkSynthetic(workload);
  }
  requireNoSynthetic(workload);
  const features = workload.features ?? known.data?.features;
  const names = { ...workload, features, optimizer: optimizer.kind };
  const parts = findWorkload(names, known.model);
  const { model, optimizer: rule } = parts;
  const { id, leavesMomentum, movesByRate = false } = rule;
  checkOptimizer(rule, optimizer);
  requireNoClipping(model, optimizer);
  const facts = known.data ?? sizeOf(workload, parts);
  const { count } = trainShard(facts.train, 0, ranks);
  const { dataset } = parts;
  const { bytes = (dataset.sampleBytes ?? 0) * (facts.train + facts.test) } = facts;
  const { bytesEach = 0 } = facts;
  return {
    ...facts,
    memory: {
      tensors: memoryTensors(model.tensors),
      stateVectors: rule.stateVectors(optimizer),
      stepsInArena: rule.stepInArena !== undefined,
      samples: { shared: bytes, each: bytesEach },
      scores: 'metric' in model && isOfPairs(model.metric) ? facts.test : 0,
      because: workload.features === undefined ? facts.featuresFrom : undefined,
    },
    ...(dataset.needsData ? { notice: noticeOf(facts) } : {}),
    tensors: model.tensors.map(({ name }) => name),
    layers: layerFacts(model),
    iterationsPerPass: count / workload.batchPerRank,
    weightDecay: optimizer.weightDecay ?? rule.defaultWeightDecay,
    ...(leavesMomentum ? {} : { ownMomentum: { name: id, next: LEAVE_MOMENTUM } }),
    ...(movesByRate ? {} : { movesOtherwise: id }),
  };
}

/** Says how many samples were read, so that missing ones show, and adds the data set's notice. */
function noticeOf({ notice, test, train }: DatasetSize): string {
  const untested = test === 0 ? '; nothing is measured on a test set' : '';
  const read = `${formatCount(train)} samples to train, ${formatCount(test)} to test${untested}`;
  return notice === undefined ? `${read}.` : `${read}. ${notice}`;
}

/** Checks a synthetic workload. There are no samples to pass over, so a pass is one iteration. */
function checkSynthetic(workload: ExperimentSpec['workload']): CheckedWorkload {
  const { layers } = syntheticWorkload(workload);
  const tensors = layers.flatMap((layer) => layer.tensors);
  return {
    train: 0,
    test: 0,
    iterationsPerPass: 1,
    memory: {
      tensors: memoryTensors(tensors),
      isWeightless: true,
      stateVectors: 0,
      stepsInArena: false,
    },
    tensors: tensors.map(({ name }) => name),
  };
}

/** A program's memory, like its passes over its data, is known to itself alone. */
function checkedProgram(workload: ExperimentSpec['workload']): CheckedWorkload {
  checkProgram(workload);
  return {
    train: 0,
    test: 0,
    iterationsPerPass: 1,
    memory: {
      tensors: [],
      isWeightless: true,
      stateVectors: 0,
      stepsInArena: false,
    },
    tensors: undefined,
    ownMomentum: { name: 'the optimiser of a program', next: 'Use another method.' },
    movesOtherwise: 'the optimiser of a program',
  };
}

/** @throws GradwireError `SYNTHETIC_INVALID` for options without effect */
function requireNoSynthetic({ model, synthetic }: ExperimentSpec['workload']): void {
  if (synthetic === undefined) return;
  throw inputError(
    'SYNTHETIC_INVALID',
    `${model} is trained and generates no synthetic gradients`,
    {
      place: 'workload.synthetic',
      next: `Remove it, or use the model ${syntheticEntry.id}.`,
    },
  );
}

function unknown(
  code: 'DATASET' | 'MODEL' | 'OPTIMIZER',
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
        ? `Valid values: ${known.join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}

/** Ids of the models that can be split into stages. */
export const splittableModels = (): readonly string[] =>
  [...models.values()]
    .filter((model) => isLayered(isSized(model) ? model.ofFeatures(1) : model))
    .map(({ id }) => id);
