/**
 * Checks a spec's workload against this agent: looks up names in the registries and
 * inspects the data directory by its headers. Done before a run is started, so that a
 * typo costs one clear error and no processes.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { formatCount } from '../../shared/words/units.ts';
import { rowLength } from './batches/batch.ts';
import { sizeOf, type DataFacts, type SpecFacts } from './data-facts.ts';
import type { DatasetSize } from './datasets/dataset.ts';
import { trainShard } from './datasets/shard.ts';
import { findOptimizer, findWorkload, tableOf } from './find-workload.ts';
import type { MemoryFacts, MemoryTensor } from './memory-facts.ts';
import { isOfPairs } from './metrics/metric.ts';
import { layerFacts, type LayerFacts, type ModelFacts } from './model-facts.ts';
import type { ModelTensor } from './models/model.ts';
import { checkOptimizer } from './optimizers/check-optimizer.ts';
import { checkProgram } from './program-workload.ts';
import {
  isSynthetic,
  syntheticEntry,
  syntheticWorkload,
} from './synthetic/synthetic-workload.ts';

const LEAVE_MOMENTUM = 'Use another method, or the optimizer sgd or lars.';
/** A method's momentum has no look ahead. */
const NESTEROV = {
  name: 'the optimiser with nesterov',
  next: 'Use another method, or set optimizer.nesterov to false.',
};

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
    ...(leavesMomentum && optimizer.nesterov === true ? { ownMomentum: NESTEROV } : {}),
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
