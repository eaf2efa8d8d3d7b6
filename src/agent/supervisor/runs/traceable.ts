/** The refusal to trace runs that cannot be traced. */
import { inputError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { untraceableCause } from '../../../shared/spec/untraceable.ts';

/** @throws GradwireError `TRACE_UNSUPPORTED` */
export function requireTraceable(spec: ExperimentSpec): void {
  const cause = untraceableCause(spec);
  if (cause === undefined) return;
  throw inputError('TRACE_UNSUPPORTED', `this run cannot be traced yet: ${cause}`, {
    place: 'trace',
    next: 'Trace a run whose ranks compute, exchange and apply in each iteration.',
  });
}
