/** The order of a list of runs: a key, descending with `-` before it, as in `-metric`. */
import { inputError } from '../errors/errors.ts';
import type { KeyPlace } from './run-key.ts';
import { findKey } from './spec-keys.ts';

export interface RunOrder {
  readonly key: KeyPlace;
  readonly isDescending: boolean;
}

/** The order of lists that none was asked of: newest first. */
export const NEWEST_FIRST = '-started';

/** @throws GradwireError `RUN_FILTER_INVALID` */
export function parseOrder(text: string, specKeys: readonly string[]): RunOrder {
  const isDescending = text.startsWith('-');
  const name = isDescending ? text.slice(1) : text;
  return { key: parseKey(name, specKeys, 'order'), isDescending };
}

/**
 * Finds a key to sort by, group by or show.
 * @throws GradwireError `RUN_FILTER_INVALID`
 */
export function parseKey(
  name: string,
  specKeys: readonly string[],
  place: string,
): KeyPlace {
  const found = findKey(name, specKeys);
  if ('place' in found) return found.place;
  throw inputError('RUN_FILTER_INVALID', found.problem, { place, next: found.next });
}
