/** Checks whether a model can be split as requested. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { modelName } from '../../shared/spec/model-name.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import { splittableModels } from '../training/workload-catalogue.ts';
import type { LayerFacts } from '../training/model-facts.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

const PLACE = 'parallelism.pipeline';
const SPLIT = `${PLACE}.splitAfter`;

/**
 * Checks that do not need the model.
 * @throws GradwireError `PIPELINE_MISFIT`
 */
export function checkPipeline(spec: ExperimentSpec): void {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return;
  const { doubleBuffer, optimizer, overlap, workload, world } = spec;
  if (asynchronousOf(spec) !== undefined) {
    throw misfit(
      'parallelism.kind',
      'stages wait for each other in every iteration, so none can be ahead',
      'Use kind: synchronous or local-steps, or remove the pipeline.',
    );
  }
  const { microBatches, splitAfter, stages } = pipeline;
  const twice = splitAfter.find((name, i) => splitAfter.indexOf(name) !== i);
  if (twice !== undefined) {
    throw misfit(SPLIT, `"${twice}" is listed twice`, 'Name each layer once.');
  }
  if (world.ranks % stages !== 0) {
    throw misfit(
      'world.ranks',
      `${world.ranks} ranks cannot be divided into pipelines of ${stages} stages`,
      `Use a multiple of ${stages}: each stage of each pipeline is a rank.`,
    );
  }
  if (workload.batchPerRank % microBatches !== 0) {
    throw misfit(
      `${PLACE}.microBatches`,
      `a batch of ${workload.batchPerRank} cannot be split into ${microBatches} equal micro-batches`,
      'Change microBatches, or workload.batchPerRank.',
    );
  }
  const besides =
    overlap === true ? 'overlap' : doubleBuffer === true ? 'doubleBuffer' : undefined;
  if (besides !== undefined) {
    throw misfit(
      besides,
      'stages exchange activations while they compute, so no gradient can be exchanged then',
      `Remove ${besides} or the pipeline.`,
    );
  }
  if (optimizer.clipNorm !== undefined) {
    throw misfit(
      'optimizer.clipNorm',
      'the norm is over all layers, but a stage has only its own',
      'Remove clipNorm or the pipeline.',
    );
  }
  if (optimizer.fullGradientEvery !== undefined) {
    throw misfit(
      'optimizer.fullGradientEvery',
      'stages pass on batches, but not a gradient of all samples',
      'Remove fullGradientEvery or the pipeline.',
    );
  }
  if (isSynthetic(workload)) {
    throw misfit(
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
    throw misfit(
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
    throw misfit(
      SPLIT,
      `${model} has only one layer and cannot be split`,
      'Remove the pipeline, or give the model several layers.',
    );
  }
  if (splitAfter.includes(last)) {
    throw misfit(
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
    throw misfit(
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
      throw misfit(
        SPLIT,
        `the stage that starts with "${ofStage[0]!.name}" has nothing to train: ` +
          `all its tensors belong to earlier stages`,
        `Do not split after "${layers[first - 1]!.name}".`,
      );
    }
    for (const name of used) before.add(name);
  }
}

const misfit = (place: string, message: string, next: string): GradwireError =>
  inputError('PIPELINE_MISFIT', message, { place, next });
