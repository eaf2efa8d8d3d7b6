/** Checks whether computing can overlap exchanges as requested. */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';

/** @throws GradwireError `OVERLAP_MISFIT` */
export function checkOverlap({
  doubleBuffer = false,
  engine,
  overlap = false,
}: ExperimentSpec): void {
  if (overlap && doubleBuffer) {
    throw inputError(
      'OVERLAP_MISFIT',
      'overlap and doubleBuffer cannot be combined: overlap hides an exchange behind the ' +
        'backward pass of its own iteration, doubleBuffer behind the next iteration',
      { place: 'doubleBuffer', next: 'Set one of them.' },
    );
  }
  if ((overlap || doubleBuffer) && engine === 'inline') {
    const name = overlap ? 'overlap' : 'doubleBuffer';
    throw inputError(
      'OVERLAP_MISFIT',
      `${name} needs the exchange to run while the trainer computes, but engine: inline runs ` +
        'both on one thread',
      { place: 'engine', next: 'Use engine: thread, or remove engine.' },
    );
  }
}
