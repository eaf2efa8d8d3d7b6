/** Runs whose iterations cannot be traced: they have not one timeline per rank, made by the loop itself. */
import type { ExperimentSpec } from './experiment-spec.ts';
import { parallelismKind } from './parallelism/parallelism.ts';
import { isProgram } from './program-spec.ts';

/** The reason why a run cannot be traced; undefined: it can. */
export function untraceableCause(
  spec: Pick<ExperimentSpec, 'optimizer' | 'parallelism' | 'workload'>,
): string | undefined {
  if (isProgram(spec.workload) && spec.workload.observe === true)
    return 'a program that is only observed communicates outside Gradwire';
  const { untraceable } = parallelismKind(spec);
  if (untraceable !== undefined) return untraceable;
  if (spec.parallelism?.pipeline !== undefined) {
    return 'the model is split into stages';
  }
  return spec.optimizer.fullGradientEvery === undefined
    ? undefined
    : 'the optimiser computes full gradients in between';
}
