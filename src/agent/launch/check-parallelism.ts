/** Whether the form of parallelism that a spec asks for goes with the rest of it. */
import { inputError, type GradwireError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { localStepsOf } from '../../shared/parallelism.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

const OF_LOCAL_STEPS = ['every', 'outer'] as const;

/** @throws GradwireError `PARALLELISM_MISFIT` */
export function checkParallelism(spec: ExperimentSpec): void {
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

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}
