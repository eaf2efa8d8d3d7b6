/** Places of new experiments: `#/new`, `#/new?preset=ID`, `#/new?run=ID`. */
import { placeKind, withChoices } from './place-kind.ts';

export interface NewPlace {
  readonly view: 'new';
  /** A preset to start from. */
  readonly preset?: string | undefined;
  /** A run whose spec to start from. */
  readonly run?: string | undefined;
}

export const newPlace = placeKind<NewPlace>({
  view: 'new',
  read: (_id, query) => ({
    view: 'new',
    preset: query.get('preset'),
    run: query.get('run'),
  }),
  write: ({ view, ...start }) => withChoices(view, start),
});
