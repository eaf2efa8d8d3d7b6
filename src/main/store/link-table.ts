/** Measured links between machines, valid while the machines are the same. */
import type Database from 'better-sqlite3';
import {
  linkFailureSchema,
  linkMeasureSchema,
  type LinkStatus,
} from '../../shared/machines/link-status.ts';
import { databaseError } from './database-error.ts';
import { jsonOrNothing } from './stored-json.ts';

/** A machine's name, and what distinguishes it from another machine of that name. */
export interface KnownNode {
  readonly name: string;
  readonly identity: string;
}

interface Row {
  readonly from_node: string;
  readonly to_node: string;
  readonly from_identity: string;
  readonly to_identity: string;
  readonly measure: string | null;
  readonly failure: string | null;
}

export class LinkTable {
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database.Database, file: string) {
    this.#file = file;
    this.#statements = prepare(database);
  }

  /** The results among these machines that are valid for their current identities. */
  among(nodes: readonly KnownNode[]): readonly LinkStatus[] {
    const identities = new Map(nodes.map(({ name, identity }) => [name, identity]));
    return this.#guard(() => this.#statements.all.all())
      .filter(
        (row) =>
          identities.get(row.from_node) === row.from_identity &&
          identities.get(row.to_node) === row.to_identity,
      )
      .map(statusOf);
  }

  /** Replaces the stored result; a failure keeps the last measurement. */
  put(link: LinkStatus, from: string, to: string): void {
    const { measure, failure } = link;
    this.#guard(() => {
      if (measure === undefined)
        this.#statements.forget.run(link.from, link.to, from, to);
      this.#statements.put.run({
        from: link.from,
        to: link.to,
        fromIdentity: from,
        toIdentity: to,
        measure: measure === undefined ? null : JSON.stringify(measure),
        failure: failure === undefined ? null : JSON.stringify(failure),
      });
    });
  }

  #guard<T>(action: () => T): T {
    try {
      return action();
    } catch (thrown) {
      throw databaseError(thrown, this.#file);
    }
  }
}

function prepare(database: Database.Database) {
  return {
    all: database.prepare<[], Row>('SELECT * FROM links ORDER BY from_node, to_node'),
    /** Removes results of a different machine of that name. */
    forget: database.prepare<[string, string, string, string]>(
      `DELETE FROM links WHERE from_node = ? AND to_node = ?
        AND NOT (from_identity = ? AND to_identity = ?)`,
    ),
    put: database.prepare<[Record<string, string | null>]>(
      `INSERT INTO links VALUES (@from, @to, @fromIdentity, @toIdentity, @measure, @failure)
        ON CONFLICT DO UPDATE SET from_identity = @fromIdentity,
          to_identity = @toIdentity, measure = coalesce(@measure, measure),
          failure = @failure`,
    ),
  };
}

/** Reads a row. What another version wrote in another form counts as not measured. */
const statusOf = (row: Row): LinkStatus => ({
  from: row.from_node,
  to: row.to_node,
  measure: linkMeasureSchema.safeParse(jsonOrNothing(row.measure)).data,
  failure: linkFailureSchema.safeParse(jsonOrNothing(row.failure)).data,
});
