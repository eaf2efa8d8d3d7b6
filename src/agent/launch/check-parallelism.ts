/** Whether the form of parallelism that a spec asks for goes with the rest of it. */
import { inputError, type GradwireError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { localStepsOf } from '../../shared/parallelism.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

const OF_LOCAL_STEPS = ['every', 'outer'] as const;

/** @throws GradwireError `PARALLELISM_MISFIT` */
export function checkParallelism(spec: ExperimentSpec): void {
  checkVarianceReduction(spec);
  const { doubleBuffer, overlap, parallelism, workload } = spec;
  if (localStepsOf(spec) === undefined) {
    const idle = OF_LOCAL_STEPS.find((key) => parallelism?.[key] !== undefined);
    if (idle === undefined) return;
    throw misfit(
      `parallelism.${idle}`,
      'ranks exchange in every iteration',
      `Set parallelism.kind: local-steps, or leave ${idle} out.`,
    );
  }
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
  if (localStepsOf(spec) !== undefined || isSynthetic(workload)) {
    throw misfit(
      'optimizer.fullGradientEvery',
      localStepsOf(spec) === undefined
        ? 'a synthetic gradient is of no samples'
        : 'local steps exchange no gradients that could be corrected',
      'Leave it out.',
    );
  }
}

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}
