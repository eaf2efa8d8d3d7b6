/**
 * Pages of the list of runs: filtered, sorted by any key, grouped. SQLite does it over the rows of
 * `runs`, so an answer costs the same for every page of a history of thousands.
 */
import type Database from 'better-sqlite3';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { parseFilter, type FilterTerm } from '../../shared/run-query/run-filter.ts';
import type { KeyPlace } from '../../shared/run-query/run-key.ts';
import {
  NEWEST_FIRST,
  parseKey,
  parseOrder,
} from '../../shared/run-query/run-order.ts';
import {
  MOST_IDS,
  MOST_ROWS,
  type CellValue,
  type RunMatch,
  type RunPage,
  type RunPageQuery,
  type RunPageRow,
  type RunVocabulary,
} from '../../shared/run-query/run-page.ts';
import { collectSpecKeys } from '../../shared/run-query/spec-keys.ts';
import { conditionOf, Parameters } from './filter-condition.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { addFold, columnOf, scalarOf } from './key-columns.ts';
import type { LegibleRows } from './legible-rows.ts';
import { summaryOf, type RunRow } from './run-row.ts';
import { RUN } from './statements.ts';
import { jsonOrNothing } from './stored-json.ts';

/** Most words of a key that completions offer. */
const MOST_WORDS = 200;

interface ListQuery extends RunPageQuery {
  /** A text that runs must have, as it is. */
  readonly search?: string | undefined;
}

type PageRow = RunRow &
  Readonly<Record<`column_${number}`, CellValue>> & {
    readonly group_value: CellValue;
    readonly group_runs: number;
  };

export class RunPages {
  readonly #guarded: GuardedDatabase;
  readonly #database: Database.Database;
  readonly #legible: LegibleRows;
  readonly #specs: Database.Statement<[number], { number: number; spec: string }>;
  readonly #specKeys = new Set<string>();
  /** Specs of runs up to this number are known; a spec does not change. */
  #known = 0;

  constructor(
    guarded: GuardedDatabase,
    database: Database.Database,
    legible: LegibleRows,
  ) {
    this.#guarded = guarded;
    this.#database = database;
    this.#legible = legible;
    addFold(database);
    this.#specs = database.prepare(
      'SELECT number, spec FROM runs WHERE number > ? ORDER BY number',
    );
  }

  /** @throws GradwireError `RUN_FILTER_INVALID` */
  page(query: ListQuery = {}, now = Date.now()): RunPage<RunSummary> {
    const keys = this.specKeys();
    const matched = this.#matched(query, keys, now);
    const { parameters } = matched;
    const scalar = (place: KeyPlace): string =>
      scalarOf(columnOf(place, (value) => parameters.add(value)));
    const { isDescending, key } = parseOrder(query.order ?? NEWEST_FIRST, keys);
    const group =
      query.group === undefined ? 'NULL' : scalar(parseKey(query.group, keys, 'group'));
    const columns = (query.columns ?? []).map((name) =>
      scalar(parseKey(name, keys, 'columns')),
    );
    const limit = parameters.add(query.limit ?? MOST_ROWS);
    const offset = parameters.add(query.offset ?? 0);
    const direction = isDescending ? 'DESC' : 'ASC';
    return this.#guarded.read(() => {
      const { bytes, total } = this.#database
        .prepare<[object], { total: number; bytes: number }>(
          `SELECT count(*) AS total, total(bytes) AS bytes FROM runs WHERE ${matched.sql}`,
        )
        .get(parameters.values)!;
      const ordered = this.#database.prepare<[object], PageRow>(`
        SELECT ${RUN}, group_value, group_runs
          ${columns.map((sql, index) => `, ${sql} AS column_${index}`).join('')}
        FROM (
          SELECT number AS place, group_value, count(*) OVER (PARTITION BY group_value)
            AS group_runs, sort_value, created_at AS at
          FROM (SELECT number, created_at, ${group} AS group_value,
            ${scalar(key)} AS sort_value FROM runs WHERE ${matched.sql})
          ORDER BY group_value IS NULL, fold(group_value), group_value,
            sort_value IS NULL, fold(sort_value) ${direction}, created_at DESC, number DESC
          LIMIT ${limit} OFFSET ${offset}
        ) JOIN runs ON runs.number = place
        ORDER BY group_value IS NULL, fold(group_value), group_value,
          sort_value IS NULL, fold(sort_value) ${direction}, created_at DESC, number DESC`);
      const rows = this.#legible.read(
        ordered.all(parameters.values),
        ({ id }) => id,
        (row): RunPageRow<RunSummary> => ({
          run: summaryOf(row),
          values: columns.map((_, index) => row[`column_${index}`]!),
          ...(query.group === undefined
            ? {}
            : { group: { value: row.group_value, runs: row.group_runs } }),
        }),
      );
      return { rows, total, bytes };
    });
  }

  /** Ids of all runs that match, newest first. */
  matching(query: RunMatch, now = Date.now()): readonly string[] {
    const { parameters, sql } = this.#matched(query, this.specKeys(), now);
    return this.#guarded.guard(() =>
      this.#database
        .prepare<[object], { id: string }>(
          `SELECT id FROM runs WHERE ${sql}
            ORDER BY created_at DESC, number DESC LIMIT ${MOST_IDS}`,
        )
        .all(parameters.values)
        .map(({ id }) => id),
    );
  }

  /** Keys of all specs in the history, in alphabetical order. */
  specKeys(): readonly string[] {
    return this.#guarded.guard(() => {
      for (const { number, spec } of this.#specs.iterate(this.#known)) {
        collectSpecKeys(jsonOrNothing(spec), this.#specKeys);
        this.#known = number;
      }
      return [...this.#specKeys].sort();
    });
  }

  vocabulary(): RunVocabulary {
    const specKeys = this.specKeys();
    const words = (sql: string): readonly string[] =>
      this.#database
        .prepare<[], { word: string }>(
          `SELECT DISTINCT word FROM (${sql}) WHERE word IS NOT NULL
            ORDER BY word LIMIT ${MOST_WORDS}`,
        )
        .all()
        .map(({ word }) => word);
    const each = (column: string, path = '$'): string =>
      `SELECT each.value AS word FROM runs,
        json_each(CASE WHEN json_valid(${column}) THEN ${column} END, '${path}') AS each`;
    return this.#guarded.guard(() => ({
      specKeys,
      values: {
        tag: words('SELECT tag AS word FROM run_tags'),
        sweep: words('SELECT name AS word FROM sweeps'),
        method: words(each('methods')),
        model: words('SELECT model AS word FROM runs'),
        data: words('SELECT dataset AS word FROM runs'),
        machine: words(each('spec', '$.world.nodes')),
      },
    }));
  }

  /** The condition of a query's runs, with its parameters. */
  #matched(
    { deleted, filter, search }: ListQuery,
    specKeys: readonly string[],
    now: number,
  ): { readonly sql: string; readonly parameters: Parameters } {
    const read = parseFilter(filter ?? '', { specKeys, now });
    const terms: readonly FilterTerm[] =
      search === undefined
        ? read
        : [...read, { kind: 'words', text: search, isNegated: false }];
    const parameters = new Parameters({ now, deleted: deleted === true ? 1 : 0 });
    return {
      sql: `deleted = @deleted AND ${conditionOf(terms, parameters)}`,
      parameters,
    };
  }
}
