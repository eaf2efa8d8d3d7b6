/** `save` and `restore` of the methods that keep nothing but their residual. */
import { failure } from '../../shared/errors.ts';

export function noState(): Uint8Array {
  return new Uint8Array(0);
}

/** @throws GradwireError `METHOD_STATE_INVALID` */
export function requireNoState(method: string, state: Uint8Array): void {
  if (state.length === 0) return;
  throw failure(
    'METHOD_STATE_INVALID',
    `${method} keeps no state, but ${state.length} bytes of it were to be restored`,
    { next: 'The saved state belongs to another method: start the run anew.' },
  );
}
