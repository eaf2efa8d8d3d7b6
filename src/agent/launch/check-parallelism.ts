/** Whether the form of parallelism that a spec asks for goes with the rest of it. */
import { inputError, type GradwireError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { asynchronousOf, localStepsOf } from '../../shared/parallelism.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

/** Keys that only one kind has, and what the others do instead. */
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

/** Whether what is given has a meaning for the kind that is asked for. */
function checkKeys({ parallelism = { kind: 'synchronous' } }: ExperimentSpec): void {
  const { kind } = parallelism;
  const keys = Object.keys(ONLY) as (keyof typeof ONLY)[];
  const idle = keys.find((key) => parallelism[key] !== undefined && ONLY[key] !== kind);
  if (idle === undefined) return;
  throw misfit(
    `parallelism.${idle}`,
    INSTEAD[kind],
    `Set parallelism.kind: ${ONLY[idle]}, or leave ${idle} out.`,
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
      'there is no outer momentum, and so no form of it',
      'Leave it out, or set outer.momentum above 0.',
    );
  }
  if (overlap === true || doubleBuffer === true) {
    throw misfit(
      overlap === true ? 'overlap' : 'doubleBuffer',
      'what local steps have moved is known when they are done: no gradient is exchanged ' +
        'while another is computed',
      'Leave it out, or use parallelism.kind: synchronous.',
    );
  }
  if (isSynthetic(workload)) {
    throw misfit(
      'workload.model',
      'a synthetic gradient moves no weights, and local steps exchange how far they moved',
      'Train a model, or use parallelism.kind: synchronous.',
    );
  }
}

/** Whether servers can do what the rest of the spec asks for. */
function checkAsynchronous(spec: ExperimentSpec): void {
  const { backend, compareEvery, doubleBuffer, engine, optimizer, overlap, workload } =
    spec;
  const { ranks } = spec.world;
  const { servers, staleness, trainerThreads } = asynchronousOf(spec)!;
  if (servers > ranks) {
    throw misfit(
      'parallelism.servers',
      `${servers} servers, and servers are ranks, of which there are ${ranks}`,
      `Give a number from 1 to ${ranks}.`,
    );
  }
  if (trainerThreads > staleness + 1) {
    throw misfit(
      'parallelism.trainerThreads',
      `of ${trainerThreads} gradients that are computed at once the newest is ` +
        `${trainerThreads - 1} ahead of the oldest, and staleness is ${staleness}`,
      `Lower it to ${staleness + 1}, or raise staleness to ${trainerThreads - 1}.`,
    );
  }
  if (trainerThreads > 1 && backend === 'webgpu') {
    throw misfit(
      'backend',
      'a GPU computes one gradient after another, whatever the number of trainer threads',
      'Use backend: wasm, or leave parallelism.trainerThreads out.',
    );
  }
  if (optimizer.kind !== 'sgd' || optimizer.clipNorm !== undefined) {
    const isSgd = optimizer.kind === 'sgd';
    throw misfit(
      isSgd ? 'optimizer.clipNorm' : 'optimizer.kind',
      isSgd
        ? 'servers apply one gradient after the other: there is no average to clip'
        : `servers apply one gradient after the other, which ${optimizer.kind} does not add up`,
      isSgd ? 'Leave it out.' : 'Use optimizer.kind: sgd.',
    );
  }
  if (overlap === true || doubleBuffer === true) {
    throw misfit(
      overlap === true ? 'overlap' : 'doubleBuffer',
      'a rank that pushes its gradient waits for no sum beside which it could compute',
      'Leave it out, or use parallelism.kind: synchronous.',
    );
  }
  if (compareEvery !== undefined) {
    throw misfit(
      'compareEvery',
      'there is no average of gradients that could be compared',
      'Leave it out, or use parallelism.kind: synchronous.',
    );
  }
  if (engine === 'inline') {
    throw misfit(
      'engine',
      'a server answers while the rank that it is on computes, which one thread cannot do',
      'Use engine: thread, or leave it out.',
    );
  }
  if (isSynthetic(workload)) {
    throw misfit(
      'workload.model',
      'a synthetic gradient moves no weights, and servers have nothing else to hand out',
      'Train a model, or use parallelism.kind: synchronous.',
    );
  }
}

/** Whether gradients can be corrected by full ones. */
function checkVarianceReduction(spec: ExperimentSpec): void {
  const { doubleBuffer, optimizer, overlap, workload } = spec;
  if (optimizer.fullGradientEvery === undefined) return;
  const other =
    overlap === true ? 'overlap' : doubleBuffer === true ? 'doubleBuffer' : undefined;
  if (other !== undefined) {
    throw misfit(
      other,
      'optimizer.fullGradientEvery corrects a gradient before any of it can be exchanged',
      `Leave ${other} or fullGradientEvery out.`,
    );
  }
  const { kind = 'synchronous' } = spec.parallelism ?? {};
  if (kind !== 'synchronous' || isSynthetic(workload)) {
    throw misfit('optimizer.fullGradientEvery', UNCORRECTED[kind], 'Leave it out.');
  }
}

const UNCORRECTED = {
  synchronous: 'a synthetic gradient is of no samples',
  'local-steps': 'local steps exchange no gradients that could be corrected',
  asynchronous:
    'a full gradient is of weights that all ranks have, which these have not',
} as const;

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}
