/** The specs that can be predicted: those whose ranks wait for each other and have whole models. */
import { inputError } from '../errors/errors.ts';
import { parallelismKind, type ParallelismSpec } from './parallelism/parallelism.ts';
import { pipelineOf } from './parallelism/pipeline.ts';

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
  const { unpredictable } = parallelismKind(spec);
  if (unpredictable === undefined) return;
  const { message, next } = unpredictable;
  throw inputError('PARALLELISM_MISFIT', message, { place: 'parallelism.kind', next });
}
