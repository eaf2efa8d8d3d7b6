/** Columns of lists of runs: those that can be chosen, and those that a list begins with. */
import { RUN_KEYS, type RunKey } from '../../../shared/run-query/run-key.ts';

/** Keys whose values stand elsewhere in a row: with its name or state, or in another column. */
const ELSEWHERE: readonly string[] = ['name', 'tag', 'note', 'age', 'alert'];

/** Keys of the list that have a column of their own. */
export const LIST_COLUMNS: readonly RunKey[] = RUN_KEYS.filter(
  ({ id }) => !ELSEWHERE.includes(id),
);

export const DEFAULT_COLUMNS: readonly string[] = [
  'state',
  'method',
  'iterations',
  'loss',
  'metric',
  'duration',
  'started',
];

/** Most columns: more fit on no screen. */
export const MOST_COLUMNS = 16;

/** A column of a table: a key of the list, or of the spec. */
export interface RunColumn {
  readonly id: string;
  readonly title: string;
  readonly isNumber: boolean;
  /** Set for a key of the list, whose value the summary has. */
  readonly key?: RunKey | undefined;
}

const NUMBERS: readonly RunKey['kind'][] = ['bytes', 'count', 'duration', 'number'];

/** Columns by their names: the list's own first, in its order, then keys of specs. */
export function columnsNamed(names: readonly string[]): readonly RunColumn[] {
  const own = LIST_COLUMNS.filter(({ id }) => names.includes(id)).map(
    (key): RunColumn => ({
      id: key.id,
      title: key.title,
      isNumber: NUMBERS.includes(key.kind),
      key,
    }),
  );
  const specs = names
    .filter((name) => name.includes('.') || !LIST_COLUMNS.some(({ id }) => id === name))
    .map((id): RunColumn => ({ id, title: id, isNumber: false }));
  return [...own, ...specs].slice(0, MOST_COLUMNS);
}

/** Columns as they were stored; without any that can be read, the usual ones. */
export function columnsFrom(stored: unknown): readonly string[] {
  if (!Array.isArray(stored)) return DEFAULT_COLUMNS;
  const names = stored.filter(
    (name): name is string => typeof name === 'string' && /^[\w.-]{1,200}$/.test(name),
  );
  return [...new Set(names)].slice(0, MOST_COLUMNS);
}
