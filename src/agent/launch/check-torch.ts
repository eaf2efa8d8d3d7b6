/** Checks whether PyTorch can compute what a spec asks for (`backend: torch`). */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { modelName } from '../../shared/spec/model-name.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import { isRegistered } from '../training/workload-catalogue.ts';

const OTHERWISE = 'Use backend: auto, or a built-in model.';

/** @throws GradwireError `TORCH_MISFIT` */
export function checkTorch(spec: ExperimentSpec): void {
  const { backend, python, workload } = spec;
  if (backend !== 'torch') {
    if (python === undefined) return;
    throw misfit(
      'python',
      'nothing uses python without backend: torch',
      'Set backend: torch, or remove python.',
    );
  }
  if (isProgram(workload)) {
    throw misfit('backend', 'a program computes by itself', 'Remove backend.');
  }
  if (isSynthetic(workload)) {
    throw misfit('backend', 'a synthetic gradient is not computed', 'Remove backend.');
  }
  const model = modelName(workload.model);
  if (workload.modelSource !== undefined || isRegistered(workload.model)) {
    throw misfit(
      'backend',
      `${model} is a model of your own, written for jax-js`,
      `${OTHERWISE} A model in PyTorch is trained as a program (docs/pytorch.md).`,
    );
  }
  if (pipelineOf(spec) !== undefined) {
    throw misfit(
      'parallelism.pipeline',
      'PyTorch computes whole models, not stages',
      'Remove the pipeline, or use backend: wasm.',
    );
  }
  if ((asynchronousOf(spec)?.trainerThreads ?? 1) > 1) {
    throw misfit(
      'parallelism.trainerThreads',
      'a rank has one process with PyTorch, which computes one gradient at a time',
      'Remove it, or use backend: wasm.',
    );
  }
}

const misfit = (place: string, message: string, next: string): GradwireError =>
  inputError('TORCH_MISFIT', message, { place, next });
