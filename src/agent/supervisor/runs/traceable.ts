/** Runs whose iterations can be traced: those with one timeline per rank, made by the loop itself. */
import { inputError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { parallelismKind } from '../../../shared/spec/parallelism/parallelism.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';

/** @throws GradwireError `TRACE_UNSUPPORTED` */
export function requireTraceable(spec: ExperimentSpec): void {
  const { optimizer, parallelism, workload } = spec;
  const { untraceable } = parallelismKind(spec);
  const cause = isProgram(workload)
    ? 'a program of one’s own computes outside Gradwire'
    : untraceable !== undefined
      ? untraceable
      : parallelism?.pipeline !== undefined
        ? 'the model is split into stages'
        : optimizer.fullGradientEvery !== undefined
          ? 'the optimiser computes full gradients in between'
          : undefined;
  if (cause === undefined) return;
  throw inputError('TRACE_UNSUPPORTED', `this run cannot be traced yet: ${cause}`, {
    place: 'trace',
    next: 'Trace a run whose ranks compute, exchange and apply in each iteration.',
  });
}
