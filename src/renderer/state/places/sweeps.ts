/** Places of sweeps: `#/sweeps`, and one of them: `#/sweeps/ID`. */
import { placeKind, unescaped } from './place-kind.ts';

export interface SweepsPlace {
  readonly view: 'sweeps';
  /** The id of a sweep; default: the list. */
  readonly sweep?: string | undefined;
}

export const sweepsPlace = placeKind<SweepsPlace>({
  view: 'sweeps',
  read: (id) =>
    id === '' ? { view: 'sweeps' } : { view: 'sweeps', sweep: unescaped(id) },
  write: ({ sweep, view }) =>
    sweep === undefined ? view : `${view}/${encodeURIComponent(sweep)}`,
});
