/** Of which specs a step can be foretold: those whose ranks wait for one another, with one model. */
import { inputError } from './errors.ts';
import { asynchronousOf, pipelineOf, type ParallelismSpec } from './parallelism.ts';

/** @throws GradwireError `PLAN_PIPELINE`, `PARALLELISM_MISFIT` */
export function assertForecastable(spec: {
  readonly parallelism?: ParallelismSpec | undefined;
}): void {
  if (pipelineOf(spec) !== undefined) {
    throw inputError(
      'PLAN_PIPELINE',
      'each stage of a pipeline exchanges its own gradient: plan predicts that of a whole model',
      {
        place: 'parallelism.pipeline',
        next: 'Take the pipeline out of the spec, or run it: its phases say what stages take.',
      },
    );
  }
  if (asynchronousOf(spec) !== undefined) {
    throw inputError(
      'PARALLELISM_MISFIT',
      'plan predicts steps in which all ranks wait for one another: asynchronous ranks do ' +
        'not, and how busy servers are depends on when each rank comes',
      {
        place: 'parallelism.kind',
        next: 'Forecast it as parallelism.kind: synchronous, or run it and look.',
      },
    );
  }
}
