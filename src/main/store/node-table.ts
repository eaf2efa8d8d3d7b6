/** The inventory: machines by name, in the order in which they were added. */
import type Database from 'better-sqlite3';
import { inputError } from '../../shared/errors/errors.ts';
import { nodeEntrySchema, type NodeEntry } from '../../shared/machines/node-entry.ts';
import { plainIssue } from '../../shared/checks/plain-issue.ts';
import { unknownNode } from '../cluster/unknown-node.ts';
import { databaseError } from './database-error.ts';
import { LegibleRows } from './legible-rows.ts';
import { invalidRow, jsonOrNothing } from './stored-json.ts';

interface Row {
  readonly name: string;
  /** A `NodeEntry` as JSON. */
  readonly entry: string;
}

export class NodeTable {
  readonly #database: Database.Database;
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #legible = new LegibleRows();

  constructor(database: Database.Database, file: string) {
    this.#database = database;
    this.#file = file;
    this.#statements = prepare(database);
  }

  list(): readonly NodeEntry[] {
    return this.#guard(() =>
      this.#legible.read(this.#statements.all.all(), ({ name }) => name, entryOf),
    );
  }

  get(name: string): NodeEntry | undefined {
    const row = this.#guard(() => this.#statements.one.get(name));
    return row && entryOf(row);
  }

  /** The name now of a machine that had this one, if no machine has it. */
  renamedTo(name: string): string | undefined {
    if (this.get(name) !== undefined) return undefined;
    return this.#guard(() => this.#statements.renamedTo.get(name)?.name);
  }

  /** @throws GradwireError `NODE_UNKNOWN` */
  named(name: string): NodeEntry {
    const entry = this.get(name);
    if (entry !== undefined) return entry;
    throw unknownNode(name, {
      names: this.list().map((each) => each.name),
      renamedTo: this.renamedTo(name),
    });
  }

  /** @throws GradwireError `NODE_EXISTS` */
  add(entry: NodeEntry): void {
    const add = (): void => {
      const { name } = entry;
      const row = [name, JSON.stringify(entry), Date.now()] as const;
      if (this.#statements.add.run(...row).changes !== 1) throw exists(name);
      this.#statements.forgetFormer.run(name);
    };
    this.#guard(() => {
      this.#database.transaction(add).immediate();
    });
  }

  /**
   * Keeps its place in the order; a new name takes the facts and the measurements of its links along.
   * @param before the entry as it must be stored now
   * @throws GradwireError `NODE_UNKNOWN`, `NODE_CHANGED`, `NODE_EXISTS`
   */
  replace(before: NodeEntry, after: NodeEntry): void {
    const replace = (): void => {
      if (JSON.stringify(this.named(before.name)) !== JSON.stringify(before)) {
        throw inputError(
          'NODE_CHANGED',
          `${before.name} was changed elsewhere in the meantime`,
          {
            next: 'Review its current settings, then repeat your change.',
          },
        );
      }
      const isRenamed = after.name !== before.name;
      if (isRenamed && this.get(after.name) !== undefined) throw exists(after.name);
      const names = { before: before.name, after: after.name };
      this.#statements.replace.run({ ...names, entry: JSON.stringify(after) });
      if (!isRenamed) return;
      this.#statements.renameFrom.run(names);
      this.#statements.renameTo.run(names);
      this.#statements.renameFacts.run(names);
      this.#statements.rename.run(names);
      this.#statements.addFormer.run(names);
      this.#statements.forgetFormer.run(after.name);
    };
    this.#guard(() => {
      this.#database.transaction(replace).immediate();
    });
  }

  /** @throws GradwireError `NODE_UNKNOWN` */
  remove(name: string): void {
    const remove = (): void => {
      // One that is damaged can be removed.
      if (this.#statements.one.get(name) === undefined) this.named(name);
      this.#statements.remove.run(name);
      this.#statements.forgetRenamed.run(name);
      this.#statements.forgetFacts.run(name);
    };
    this.#guard(() => {
      this.#database.transaction(remove).immediate();
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
    all: database.prepare<[], Row>(
      'SELECT name, entry FROM nodes ORDER BY added_at, name',
    ),
    one: database.prepare<[string], Row>(
      'SELECT name, entry FROM nodes WHERE name = ?',
    ),
    add: database.prepare<[string, string, number]>(
      'INSERT INTO nodes (name, entry, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    replace: database.prepare<[Record<'before' | 'after' | 'entry', string>]>(
      'UPDATE nodes SET name = @after, entry = @entry WHERE name = @before',
    ),
    // Removes leftovers of an earlier machine of the new name.
    renameFrom: database.prepare<[Record<'before' | 'after', string>]>(
      'UPDATE OR REPLACE links SET from_node = @after WHERE from_node = @before',
    ),
    renameTo: database.prepare<[Record<'before' | 'after', string>]>(
      'UPDATE OR REPLACE links SET to_node = @after WHERE to_node = @before',
    ),
    renameFacts: database.prepare<[Record<'before' | 'after', string>]>(
      'UPDATE OR REPLACE node_facts SET name = @after WHERE name = @before',
    ),
    forgetFacts: database.prepare<[string]>('DELETE FROM node_facts WHERE name = ?'),
    remove: database.prepare<[string]>('DELETE FROM nodes WHERE name = ?'),
    renamedTo: database.prepare<[string], { name: string }>(
      'SELECT name FROM node_renames WHERE was = ?',
    ),
    rename: database.prepare<[Record<'before' | 'after', string>]>(
      'UPDATE node_renames SET name = @after WHERE name = @before',
    ),
    addFormer: database.prepare<[Record<'before' | 'after', string>]>(
      'INSERT OR REPLACE INTO node_renames (was, name) VALUES (@before, @after)',
    ),
    forgetFormer: database.prepare<[string]>('DELETE FROM node_renames WHERE was = ?'),
    forgetRenamed: database.prepare<[string]>(
      'DELETE FROM node_renames WHERE name = ?',
    ),
  };
}

const exists = (name: string): Error =>
  inputError('NODE_EXISTS', `there is already a machine named "${name}"`, {
    next: `Choose another name, or remove it: gradwire nodes remove ${name}.`,
  });

/** @throws GradwireError `HISTORY_ROW_INVALID` */
function entryOf({ entry, name }: Row): NodeEntry {
  const parsed = nodeEntrySchema.safeParse(jsonOrNothing(entry));
  if (parsed.success) return parsed.data;
  throw invalidRow(
    `machine ${name}: ${plainIssue(parsed.error.issues[0]!)}`,
    `Remove that machine: gradwire nodes remove ${name}.`,
  );
}
