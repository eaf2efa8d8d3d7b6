/** Runs whose iterations cannot be traced: they have not one timeline per rank, made by the loop itself. */
import type { ExperimentSpec } from './experiment-spec.ts';
import { parallelismKind } from './parallelism/parallelism.ts';

/** The reason why a run cannot be traced; undefined: it can. */
export function untraceableCause(
  spec: Pick<ExperimentSpec, 'optimizer' | 'parallelism'>,
): string | undefined {
  const { untraceable } = parallelismKind(spec);
  if (untraceable !== undefined) return untraceable;
  if (spec.parallelism?.pipeline !== undefined) {
    return 'the model is split into stages';
  }
  return spec.optimizer.fullGradientEvery === undefined
    ? undefined
    : 'the optimiser computes full gradients in between';
}
