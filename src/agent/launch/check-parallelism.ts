/** Checks whether a spec's form of parallelism fits the rest of it. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { asynchronousOf, localStepsOf } from '../../shared/spec/parallelism.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

/** Keys of only one kind, and the default of the others. */
const ONLY = {
  every: 'local-steps',
  outer: 'local-steps',
  staleness: 'asynchronous',
  servers: 'asynchronous',
  trainerThreads: 'asynchronous',
  drainEvery: 'asynchronous',
} as const;

/** @throws GradwireError `PARALLELISM_MISFIT` */
export function checkParallelism(spec: ExperimentSpec): void {
  checkVarianceReduction(spec);
  checkKeys(spec);
  if (localStepsOf(spec) !== undefined) checkLocalSteps(spec);
  if (asynchronousOf(spec) !== undefined) checkAsynchronous(spec);
}

/** Checks that the given keys apply to the requested kind. */
function checkKeys({ parallelism = { kind: 'synchronous' } }: ExperimentSpec): void {
  const { kind } = parallelism;
  const keys = Object.keys(ONLY) as (keyof typeof ONLY)[];
  const idle = keys.find((key) => parallelism[key] !== undefined && ONLY[key] !== kind);
  if (idle === undefined) return;
  throw misfit(
    `parallelism.${idle}`,
    INSTEAD[kind],
    `Set parallelism.kind: ${ONLY[idle]}, or remove ${idle}.`,
  );
}

const INSTEAD = {
  synchronous: 'ranks exchange in every iteration',
  'local-steps': 'local steps end in an exchange of all ranks, without servers',
  asynchronous: 'asynchronous ranks push in every iteration',
} as const;

function checkLocalSteps(spec: ExperimentSpec): void {
  const { doubleBuffer, overlap, parallelism, workload } = spec;
  const { momentum, nesterov } = parallelism?.outer ?? {};
  if (momentum === 0 && nesterov !== undefined) {
    throw misfit(
      'parallelism.outer.nesterov',
      'there is no outer momentum, so nesterov has no effect',
      'Remove it, or set outer.momentum above 0.',
    );
  }
  if (overlap === true || doubleBuffer === true) {
    throw misfit(
      overlap === true ? 'overlap' : 'doubleBuffer',
      'local steps exchange how far the weights moved, which is known only after the last ' +
        'step, so no exchange can run during them',
      'Remove it, or use parallelism.kind: synchronous.',
    );
  }
  if (isSynthetic(workload)) {
    throw misfit(
      'workload.model',
      'local steps exchange how far the weights moved, but a synthetic gradient moves none',
      'Train a model, or use parallelism.kind: synchronous.',
    );
  }
}

/** Checks whether servers support the rest of the spec. */
function checkAsynchronous(spec: ExperimentSpec): void {
  const { backend, compareEvery, doubleBuffer, engine, optimizer, overlap, workload } =
    spec;
  const { ranks } = spec.world;
  const { servers, staleness, trainerThreads } = asynchronousOf(spec)!;
  if (servers > ranks) {
    throw misfit(
      'parallelism.servers',
      `${servers} servers, but servers are ranks, and the run has ${ranks}`,
      `Give a number from 1 to ${ranks}.`,
    );
  }
  if (trainerThreads > staleness + 1) {
    throw misfit(
      'parallelism.trainerThreads',
      `with ${trainerThreads} trainer threads the newest gradient is ` +
        `${trainerThreads - 1} iterations ahead of the oldest, but staleness is ${staleness}`,
      `Lower it to ${staleness + 1}, or raise staleness to ${trainerThreads - 1}.`,
    );
  }
  if (trainerThreads > 1 && backend === 'webgpu') {
    throw misfit(
      'backend',
      'a GPU computes one gradient at a time, regardless of trainerThreads',
      'Use backend: wasm, or remove parallelism.trainerThreads.',
    );
  }
  if (optimizer.kind !== 'sgd' || optimizer.clipNorm !== undefined) {
    const isSgd = optimizer.kind === 'sgd';
    throw misfit(
      isSgd ? 'optimizer.clipNorm' : 'optimizer.kind',
      isSgd
        ? 'servers apply gradients one at a time, so there is no average to clip'
        : `servers apply gradients one at a time, which ${optimizer.kind} does not support`,
      isSgd ? 'Remove it.' : 'Use optimizer.kind: sgd.',
    );
  }
  if (overlap === true || doubleBuffer === true) {
    throw misfit(
      overlap === true ? 'overlap' : 'doubleBuffer',
      'asynchronous ranks do not wait for a sum, so there is nothing to overlap',
      'Remove it, or use parallelism.kind: synchronous.',
    );
  }
  if (compareEvery !== undefined) {
    throw misfit(
      'compareEvery',
      'asynchronous training has no average gradient to compare',
      'Remove it, or use parallelism.kind: synchronous.',
    );
  }
  if (engine === 'inline') {
    throw misfit(
      'engine',
      'a server must answer while its rank computes, which one thread cannot do',
      'Use engine: thread, or remove engine.',
    );
  }
  if (isSynthetic(workload)) {
    throw misfit(
      'workload.model',
      'servers hand out weights, but a synthetic gradient moves none',
      'Train a model, or use parallelism.kind: synchronous.',
    );
  }
}

/** Checks whether gradients can be corrected by full ones. */
function checkVarianceReduction(spec: ExperimentSpec): void {
  const { doubleBuffer, optimizer, overlap, workload } = spec;
  if (optimizer.fullGradientEvery === undefined) return;
  const other =
    overlap === true ? 'overlap' : doubleBuffer === true ? 'doubleBuffer' : undefined;
  if (other !== undefined) {
    throw misfit(
      other,
      'optimizer.fullGradientEvery corrects each gradient as a whole, so none of it can be exchanged earlier',
      `Remove ${other} or fullGradientEvery.`,
    );
  }
  const { kind = 'synchronous' } = spec.parallelism ?? {};
  if (kind !== 'synchronous' || isSynthetic(workload)) {
    throw misfit('optimizer.fullGradientEvery', UNCORRECTED[kind], 'Remove it.');
  }
}

const UNCORRECTED = {
  synchronous: 'a synthetic gradient has no samples',
  'local-steps': 'local steps exchange no gradients that could be corrected',
  asynchronous:
    'a full gradient needs the same weights on all ranks, which asynchronous ranks do not have',
} as const;

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}
