/** The specs whose steps a plan can predict. */
import { inputError } from '../../shared/errors/errors.ts';
import { assertForecastable } from '../../shared/spec/forecastable.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { ParsedSpec } from '../../shared/spec/experiment-spec.ts';

/** @throws GradwireError `PLAN_PROGRAM`, `PLAN_PIPELINE`, `PARALLELISM_MISFIT` */
export function requirePlannable(
  spec: Pick<ParsedSpec, 'parallelism' | 'workload'>,
): void {
  assertForecastable(spec);
  if (!isProgram(spec.workload)) return;
  throw inputError(
    'PLAN_PROGRAM',
    'a program of your own cannot be predicted: its gradients are known only when it runs',
    {
      place: 'workload.command',
      next: 'Run it, and read its verdict; or replay the run otherwise: gradwire runs what-if.',
    },
  );
}
