/** The runs that there are: listed, found by the beginning of their ids, or not ended. */
import type Database from 'better-sqlite3';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { LegibleRows } from './legible-rows.ts';
import { RunPages } from './run-pages.ts';
import { summaryOf, type RunRow } from './run-row.ts';
import { unknownRun } from './run-rows.ts';
import type { Statements } from './statements.ts';
import { storedSpec } from './stored-json.ts';

export interface RunQuery {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** True: only deleted runs. Otherwise only the others. */
  readonly deleted?: boolean | undefined;
  /** Whether runs that have not ended are listed, too, whatever the limit. */
  readonly live?: boolean | undefined;
}

export interface UnendedRun {
  readonly id: string;
  readonly name: string;
  /** The nodes with ranks of it, the leading one first. */
  readonly nodes: readonly string[];
  readonly starting: boolean;
  readonly launcher: string | undefined;
  readonly createdAt: number;
}

export class RunList {
  /** Filtered and sorted. */
  readonly pages: RunPages;
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #legible = new LegibleRows();

  constructor(
    guarded: GuardedDatabase,
    database: Database.Database,
    statements: Statements,
  ) {
    this.#database = guarded;
    this.#statements = statements;
    this.pages = new RunPages(guarded, database, this.#legible);
  }

  /** Newest first. */
  list(query: RunQuery = {}): readonly RunSummary[] {
    const words = (query.search ?? '').replace(/[\\%_]/g, '\\$&');
    return this.#database.guard(() => {
      const rows = this.#statements.listRuns.all({
        deleted: query.deleted === true ? 1 : 0,
        search: `%${words}%`,
        limit: query.limit ?? 100,
        offset: query.offset ?? 0,
      });
      const others = query.live === true ? this.#statements.unendedRuns.all() : [];
      const listed = new Set(rows.map(({ number }) => number));
      const older = others.filter(({ number }) => !listed.has(number)).toReversed();
      return this.#legible.read([...rows, ...older], idOf, summaryOf);
    });
  }

  /** Returns the errors of damaged rows, whose runs are left out of lists. Each is told once. */
  takeDamage(): readonly GradwireError[] {
    return this.#legible.takeDamage();
  }

  unended(): readonly UnendedRun[] {
    return this.#database.guard(() =>
      this.#legible.read(this.#statements.unendedRuns.all(), idOf, (row) => ({
        id: row.id,
        name: row.name,
        nodes: nodesOf(storedSpec(row)),
        starting: row.state === 'starting',
        launcher: row.launcher ?? undefined,
        createdAt: row.created_at,
      })),
    );
  }

  /** Returns the number of the newest run; runs are counted as they are created. */
  newest(): number {
    return this.#database.guard(() => this.#statements.newestRun.get()!.number);
  }

  /**
   * Returns the number of a run.
   * @throws GradwireError `RUN_UNKNOWN`
   */
  number(id: string): number {
    const row = this.#database.guard(() => this.#statements.runById.get(id));
    if (row === undefined) throw unknownRun(id);
    return row.number;
  }

  /** Returns ids of ended runs that were created after the run of this number. */
  endedAfter(number: number): readonly string[] {
    return this.#database.guard(() =>
      this.#statements.endedRunsAfter.all(number).map(({ id }) => id),
    );
  }

  /**
   * The run id with the given prefix.
   * @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
   */
  resolve(prefix: string): string {
    const ids = this.#database.guard(() =>
      this.#statements.idsByPrefix.all({ prefix }).map((row) => row.id),
    );
    if (ids.length === 0 || prefix === '') throw unknownRun(prefix);
    if (ids.length > 1 && !ids.includes(prefix)) {
      throw inputError('RUN_AMBIGUOUS', `several run ids start with "${prefix}"`, {
        next: `Give more characters of one of: ${ids.slice(0, 5).join(', ')}.`,
      });
    }
    return ids.includes(prefix) ? prefix : ids[0]!;
  }
}

const idOf = ({ id }: RunRow): string => id;
