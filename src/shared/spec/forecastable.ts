/** The specs that can be predicted: those whose ranks wait for each other and have whole models. */
import { inputError } from '../errors/errors.ts';
import { asynchronousOf, pipelineOf, type ParallelismSpec } from './parallelism.ts';

/** @throws GradwireError `PLAN_PIPELINE`, `PARALLELISM_MISFIT` */
export function assertForecastable(spec: {
  readonly parallelism?: ParallelismSpec | undefined;
}): void {
  if (pipelineOf(spec) !== undefined) {
    throw inputError(
      'PLAN_PIPELINE',
      'plan cannot predict pipelines: it measures what the whole model computes, but not each ' +
        'stage, and stages wait for one another',
      {
        place: 'parallelism.pipeline',
        next: 'Predict the whole model with --set parallelism=null (and --set exchange.activations=null), or run the spec and read the phases of its stages.',
      },
    );
  }
  if (asynchronousOf(spec) !== undefined) {
    throw inputError(
      'PARALLELISM_MISFIT',
      'plan cannot predict asynchronous training: its ranks do not wait for each other, and ' +
        'the load of the servers depends on when each rank arrives',
      {
        place: 'parallelism.kind',
        next: 'Set parallelism.kind: synchronous to predict that instead, or run the spec and measure.',
      },
    );
  }
}
