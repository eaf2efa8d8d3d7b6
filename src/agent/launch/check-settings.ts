/**
 * Checks whether settings of a spec fit each other: whether ranks can divide the work as it asks, by
 * its kind of parallelism, which may split the model into the stages of a pipeline, and whether
 * PyTorch can compute it (`backend: torch`).
 */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { modelName } from '../../shared/spec/model-name.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import {
  PARALLELISM,
  parallelismKind,
} from '../../shared/spec/parallelism/parallelism.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { nearest } from '../../shared/words/nearest.ts';
import type { LayerFacts } from '../training/model-facts.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import { isRegistered, splittableModels } from '../training/workload-catalogue.ts';

const PIPELINE = 'parallelism.pipeline';
const SPLIT = `${PIPELINE}.splitAfter`;
const OTHERWISE = 'Use backend: auto, or a built-in model.';

/**
 * Checks that do not need the model.
 * @throws GradwireError `PARALLELISM_MISFIT`, `PIPELINE_MISFIT`
 */
export function checkParallelism(spec: ExperimentSpec): void {
  checkVarianceReduction(spec);
  checkKeys(spec);
  const [first] = parallelismKind(spec).misfits(spec);
  if (first !== undefined) throw misfit(first.place, first.message, first.next);
  checkPipeline(spec);
}

/** Checks that the given keys apply to the requested kind. */
function checkKeys(spec: ExperimentSpec): void {
  const kind = parallelismKind(spec);
  const given = Object.entries(spec.parallelism ?? {}).filter(
    ([, value]) => value !== undefined,
  );
  for (const [key] of given) {
    const only = [...PARALLELISM.values()].find(({ keys }) => Object.hasOwn(keys, key));
    if (only === undefined || only.id === kind.id) continue;
    const next = `Set parallelism.kind: ${only.id}, or remove ${key}.`;
    throw misfit(`parallelism.${key}`, kind.instead, next);
  }
}

/** Checks whether gradients can be corrected by full ones. */
function checkVarianceReduction(spec: ExperimentSpec): void {
  const { optimizer, workload } = spec;
  if (optimizer.fullGradientEvery === undefined) return;
  const { uncorrected } = parallelismKind(spec);
  if (uncorrected === undefined && !isSynthetic(workload)) return;
  const cause = uncorrected ?? 'a synthetic gradient has no samples';
  throw misfit('optimizer.fullGradientEvery', cause, 'Remove it.');
}

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}

/** Checks the stages as far as they do not depend on the model. */
function checkPipeline(spec: ExperimentSpec): void {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return;
  const { doubleBuffer, optimizer, overlap, workload, world } = spec;
  if (asynchronousOf(spec) !== undefined) {
    throw unsplittable(
      'parallelism.kind',
      'stages wait for each other in every iteration, so none can be ahead',
      'Use kind: synchronous or local-steps, or remove the pipeline.',
    );
  }
  const { microBatches, splitAfter, stages } = pipeline;
  const twice = splitAfter.find((name, i) => splitAfter.indexOf(name) !== i);
  if (twice !== undefined) {
    throw unsplittable(SPLIT, `"${twice}" is listed twice`, 'Name each layer once.');
  }
  if (world.ranks % stages !== 0) {
    throw unsplittable(
      'world.ranks',
      `${world.ranks} ranks cannot be divided into pipelines of ${stages} stages`,
      `Use a multiple of ${stages}: each stage of each pipeline is a rank.`,
    );
  }
  if (workload.batchPerRank % microBatches !== 0) {
    throw unsplittable(
      `${PIPELINE}.microBatches`,
      `a batch of ${workload.batchPerRank} cannot be split into ${microBatches} equal micro-batches`,
      'Change microBatches, or workload.batchPerRank.',
    );
  }
  const besides =
    overlap === true ? 'overlap' : doubleBuffer === true ? 'doubleBuffer' : undefined;
  if (besides !== undefined) {
    throw unsplittable(
      besides,
      'stages exchange activations while they compute, so no gradient can be exchanged then',
      `Remove ${besides} or the pipeline.`,
    );
  }
  if (optimizer.clipNorm !== undefined) {
    throw unsplittable(
      'optimizer.clipNorm',
      'the norm is over all layers, but a stage has only its own',
      'Remove clipNorm or the pipeline.',
    );
  }
  if (optimizer.fullGradientEvery !== undefined) {
    throw unsplittable(
      'optimizer.fullGradientEvery',
      'stages pass on batches, but not a gradient of all samples',
      'Remove fullGradientEvery or the pipeline.',
    );
  }
  if (isSynthetic(workload)) {
    throw unsplittable(
      'workload.model',
      'a synthetic gradient has no layers to split',
      'Train a model.',
    );
  }
}

/**
 * @param layers of the model; undefined if they have no names
 * @throws GradwireError `PIPELINE_MISFIT`, `SPLIT_UNKNOWN`
 */
export function checkSplit(
  spec: ExperimentSpec,
  layers: readonly LayerFacts[] | undefined,
): void {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return;
  const { model: id, modelSource } = spec.workload;
  const model = modelName(id);
  const { splitAfter, stages } = pipeline;
  if (layers === undefined) {
    throw unsplittable(
      'workload.model',
      `${model} cannot be split: its layers have no names`,
      modelSource === undefined
        ? `Use ${splittableModels().join(', ')}, or your own model made of layers (docs/models.md).`
        : 'Write it as layers; see docs/models.md.',
    );
  }
  const names = layers.map(({ name }) => name);
  const last = names.at(-1)!;
  const unknown = splitAfter.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, names);
    throw inputError('SPLIT_UNKNOWN', `${model} has no layer "${unknown}"`, {
      place: SPLIT,
      next:
        meant === undefined
          ? `Its layers: ${names.join(', ')}.`
          : `Did you mean "${meant}"? Its layers: ${names.join(', ')}.`,
    });
  }
  if (names.length === 1) {
    throw unsplittable(
      SPLIT,
      `${model} has only one layer and cannot be split`,
      'Remove the pipeline, or give the model several layers.',
    );
  }
  if (splitAfter.includes(last)) {
    throw unsplittable(
      SPLIT,
      stages > names.length
        ? `${model} has ${names.length} layers, too few for ${stages} stages`
        : `there is no layer after "${last}"`,
      `Split after one of: ${names.slice(0, -1).join(', ')}.`,
    );
  }
  const places = splitAfter.map((name) => names.indexOf(name));
  if (places.some((place, i) => i > 0 && place < places[i - 1]!)) {
    const inOrder = names.filter((name) => splitAfter.includes(name));
    throw unsplittable(
      SPLIT,
      'the layers are not in the model’s order',
      `Write ${JSON.stringify(inOrder)}.`,
    );
  }
  requireOwnTensors(layers, places);
}

/**
 * A stage trains the tensors that no stage before it uses.
 * @param ends positions of the layers after which the model is split
 */
function requireOwnTensors(
  layers: readonly LayerFacts[],
  ends: readonly number[],
): void {
  const before = new Set<string>();
  for (const [stage, first] of [0, ...ends.map((end) => end + 1)].entries()) {
    const ofStage = layers.slice(first, (ends[stage] ?? layers.length - 1) + 1);
    const used = ofStage.flatMap(({ tensors }) => tensors);
    if (used.every((name) => before.has(name))) {
      throw unsplittable(
        SPLIT,
        `the stage that starts with "${ofStage[0]!.name}" has nothing to train: ` +
          `all its tensors belong to earlier stages`,
        `Do not split after "${layers[first - 1]!.name}".`,
      );
    }
    for (const name of used) before.add(name);
  }
}

const unsplittable = (place: string, message: string, next: string): GradwireError =>
  inputError('PIPELINE_MISFIT', message, { place, next });

/** @throws GradwireError `TORCH_MISFIT` */
export function checkTorch(spec: ExperimentSpec): void {
  const { backend, python, workload } = spec;
  if (backend !== 'torch') {
    if (python === undefined) return;
    throw noTorch(
      'python',
      'nothing uses python without backend: torch',
      'Set backend: torch, or remove python.',
    );
  }
  if (isProgram(workload)) {
    throw noTorch('backend', 'a program computes by itself', 'Remove backend.');
  }
  if (isSynthetic(workload)) {
    throw noTorch('backend', 'a synthetic gradient is not computed', 'Remove backend.');
  }
  const model = modelName(workload.model);
  if (workload.modelSource !== undefined || isRegistered(workload.model)) {
    throw noTorch(
      'backend',
      `${model} is a model of your own, written for jax-js`,
      `${OTHERWISE} A model in PyTorch is trained as a program (docs/pytorch.md).`,
    );
  }
  if ((asynchronousOf(spec)?.trainerThreads ?? 1) > 1) {
    throw noTorch(
      'parallelism.trainerThreads',
      'a rank has one process with PyTorch, which computes one gradient at a time',
      'Remove it, or use backend: wasm.',
    );
  }
}

const noTorch = (place: string, message: string, next: string): GradwireError =>
  inputError('TORCH_MISFIT', message, { place, next });
