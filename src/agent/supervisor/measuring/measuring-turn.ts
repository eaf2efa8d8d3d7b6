/**
 * The turn to measure on this machine: one thing at a time, for one client, because two
 * measurements would disturb each other.
 */
import { failure } from '../../../shared/errors/errors.ts';

let current: { readonly what: string; readonly owner: object } | undefined;

export const isMeasuring = (owner: object, what?: string): boolean =>
  current?.owner === owner && (what === undefined || current.what === what);

/**
 * @param what the link or network; its owner may take the turn for it again
 * @returns whether nothing was being measured
 * @throws GradwireError `LINK_CHECK_BUSY`
 */
export function takeTurn(owner: object, what: string): boolean {
  if (current === undefined) {
    current = { owner, what };
    return true;
  }
  if (isMeasuring(owner, what)) return false;
  throw failure('LINK_CHECK_BUSY', 'something else is being measured on this machine', {
    next: 'Try again in a minute.',
  });
}

export function leaveTurn(owner: object): void {
  if (isMeasuring(owner)) current = undefined;
}
