/**
 * The keys of a list of runs in SQL: what each is of a row of `runs`. JSON that is damaged counts as
 * absent, as the row is told of elsewhere. Texts are compared as `fold` makes them.
 */
import type Database from 'better-sqlite3';
import type { KeyPlace, RunKeyId } from '../../shared/run-query/run-key.ts';
import { isOwnOfPrograms } from '../../shared/spec/program-settings.ts';
import { PROGRAM } from '../../shared/spec/program-spec.ts';
import { NEWEST_EVENTS, WAITS } from './statements.ts';

/** An expression, or a query of one column `value` for keys with several values. */
type KeyColumn =
  | { readonly kind: 'one'; readonly sql: string }
  | { readonly kind: 'many'; readonly sql: string };

const one = (sql: string): KeyColumn => ({ kind: 'one', sql });
const many = (sql: string): KeyColumn => ({ kind: 'many', sql });

const whole = (column: string): string =>
  `CASE WHEN json_valid(${column}) THEN ${column} END`;

/** The name under which a run is shown. */
const SHOWN_NAME = 'coalesce(title, name)';

/** The state as it is shown. */
const STATE = `CASE
  WHEN state = 'failed' AND ${whole('error')} ->> '$.code' = 'RUN_STOPPED' THEN 'stopped'
  WHEN state IN ('starting', 'running') AND (
    SELECT record ->> '$.type' FROM (
      SELECT record, sequence FROM events
      WHERE run = runs.number ORDER BY sequence DESC LIMIT ${NEWEST_EVENTS})
    WHERE record ->> '$.type' IN (${WAITS})
    ORDER BY sequence DESC LIMIT 1) = 'queued' THEN 'queued'
  ELSE state END`;

const COLUMNS: Readonly<Record<RunKeyId, KeyColumn>> = {
  name: one(SHOWN_NAME),
  id: one('id'),
  state: one(STATE),
  tag: many('SELECT tag AS value FROM run_tags WHERE run = runs.number'),
  sweep: one('(SELECT name FROM sweeps WHERE sweeps.number = runs.sweep)'),
  note: many('SELECT text AS value FROM run_notes WHERE run = runs.number'),
  alert: many(`SELECT value ->> '$.rule' AS value FROM json_each(${whole('alerts')})`),
  method: many(`SELECT value FROM json_each(${whole('methods')})`),
  model: one('model'),
  data: one('dataset'),
  machine: many(
    `SELECT value FROM json_each(${whole('spec')}, '$.world.nodes') WHERE key < ranks`,
  ),
  ranks: one('ranks'),
  iterations: one('iterations'),
  loss: one('loss'),
  metric: one('metric'),
  duration: one(`coalesce(ended_at,
    CASE WHEN state IN ('starting', 'running') THEN @now END) - created_at`),
  started: one('created_at'),
  ended: one('ended_at'),
  age: one('@now - created_at'),
  size: one('bytes'),
};

/** Everything that words are looked for in. */
export const ALL_TEXT = `${SHOWN_NAME} || ' ' || name || ' ' || id || ' ' || model || ' '
  || dataset || ' ' || methods || ' ' || state || ' '
  || coalesce((SELECT group_concat(tag, ' ') FROM run_tags WHERE run = runs.number), '') || ' '
  || coalesce((SELECT group_concat(text, ' ') FROM run_notes WHERE run = runs.number), '')`;

/** @param parameter gives a value to a statement, and returns its name there */
export function columnOf(
  place: KeyPlace,
  parameter: (value: string) => string,
): KeyColumn {
  if (place.of === 'run') return COLUMNS[place.key.id];
  const path = parameter(['$', ...place.path.map((key) => `"${key}"`)].join('.'));
  const spec = whole('spec');
  // A truth value would be a number.
  const value = `CASE json_type(${spec}, ${path}) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    ELSE json_extract(${spec}, ${path}) END`;
  // The spec of a program has defaults that say nothing about its run.
  return one(
    isOwnOfPrograms(place.id)
      ? `CASE WHEN model != '${PROGRAM}' THEN ${value} END`
      : value,
  );
}

/** The expression of a key, whose values are joined where there are several. */
export const scalarOf = (column: KeyColumn): string =>
  column.kind === 'one'
    ? column.sql
    : `(SELECT group_concat(value, ', ') FROM (${column.sql}))`;

/** A text without what distinguishes capital letters, and composed characters from others. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Gives a connection the function that this file's texts are compared with. */
export function addFold(database: Database.Database): void {
  database.function('fold', { deterministic: true }, (value: unknown) =>
    typeof value === 'string' ? folded(value) : value,
  );
}
