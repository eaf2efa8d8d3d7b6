/** The place of one run: `#/run/ID`. */
import { placeKind, unescaped } from './place-kind.ts';

export interface RunPlace {
  readonly view: 'run';
  /** The run's id. */
  readonly run: string;
}

export const runPlace = placeKind<RunPlace>({
  view: 'run',
  read: (id) => (id === '' ? undefined : { view: 'run', run: unescaped(id) }),
  write: ({ view, run }) => `${view}/${encodeURIComponent(run)}`,
});
