/** A compressor's state as bytes; empty if it keeps only its residual. */
import { failure } from '../../shared/errors/errors.ts';
import { run, type Answer } from '../work/steps.ts';
import type { Compressor } from './method.ts';

type Keeping = Pick<Compressor, 'state'>;

export function saveState({ state }: Keeping): Answer<Uint8Array> {
  return state === undefined ? new Uint8Array(0) : run(state.save());
}

/** @throws GradwireError `METHOD_STATE_INVALID` */
export function restoreState(
  method: string,
  { state }: Keeping,
  saved: Uint8Array,
): void {
  if (state !== undefined) {
    state.restore(saved);
    return;
  }
  if (saved.length === 0) return;
  throw failure(
    'METHOD_STATE_INVALID',
    `${method} keeps no state, but the saved state has ${saved.length} bytes`,
    { next: 'The saved state belongs to another method: start the run again.' },
  );
}
