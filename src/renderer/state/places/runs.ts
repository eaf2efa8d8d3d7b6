/** Places of the list of runs: `#/runs?filter=TERMS&order=-loss`. */
import { placeKind, withChoices } from './place-kind.ts';

/** The list of runs. What is not given has its default. */
export interface RunsPlace {
  readonly view: 'runs';
  /** A filter as it was written. */
  readonly filter?: string | undefined;
  /** A key, with `-` before it descending. */
  readonly order?: string | undefined;
  /** A key by which runs are grouped. */
  readonly group?: string | undefined;
  /** True: deleted runs. */
  readonly deleted?: true | undefined;
}

/** Whether the place is the list without any choice. */
export const isWholeList = ({ view: _, ...choices }: RunsPlace): boolean =>
  Object.values(choices).every((choice) => choice === undefined);

export const runsPlace = placeKind<RunsPlace>({
  view: 'runs',
  read: (_id, query) => {
    const deleted = query.get('deleted') === 'true';
    return {
      view: 'runs',
      filter: query.get('filter'),
      order: query.get('order'),
      group: query.get('group'),
      ...(deleted ? { deleted } : {}),
    };
  },
  write: ({ view, ...choices }) => withChoices(view, choices),
});
