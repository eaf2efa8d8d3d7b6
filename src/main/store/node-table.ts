/** The inventory: machines by name, in the order in which they were added. */
import type Database from 'better-sqlite3';
import { inputError } from '../../shared/errors.ts';
import { nearest } from '../../shared/nearest.ts';
import { parseNodeEntry, type NodeEntry } from '../../shared/node-entry.ts';
import { databaseError } from './database-error.ts';

export class NodeTable {
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database.Database, file: string) {
    this.#file = file;
    this.#statements = prepare(database);
  }

  list(): readonly NodeEntry[] {
    return this.#guard(() => this.#statements.all.all().map(entryOf));
  }

  get(name: string): NodeEntry | undefined {
    const row = this.#guard(() => this.#statements.one.get(name));
    return row && entryOf(row);
  }

  /** @throws GradwireError `NODE_UNKNOWN` */
  named(name: string): NodeEntry {
    const entry = this.get(name);
    if (entry !== undefined) return entry;
    const names = this.list().map((each) => each.name);
    const suggestion = nearest(name, names);
    throw inputError('NODE_UNKNOWN', `there is no node "${name}"`, {
      next:
        suggestion !== undefined
          ? `Did you mean "${suggestion}"?`
          : names.length > 0
            ? `Nodes: ${names.join(', ')}.`
            : 'Add it with: gradwire nodes add.',
    });
  }

  /** @throws GradwireError `NODE_EXISTS` */
  add(entry: NodeEntry): void {
    const { changes } = this.#guard(() =>
      this.#statements.add.run(entry.name, JSON.stringify(entry), Date.now()),
    );
    if (changes === 1) return;
    throw inputError('NODE_EXISTS', `there is a node "${entry.name}" already`, {
      next: `Choose another name, or remove it: gradwire nodes remove ${entry.name}.`,
    });
  }

  /** @throws GradwireError `NODE_UNKNOWN` */
  remove(name: string): void {
    this.named(name);
    this.#guard(() => this.#statements.remove.run(name));
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
    all: database.prepare<[], { entry: string }>(
      'SELECT entry FROM nodes ORDER BY added_at, name',
    ),
    one: database.prepare<[string], { entry: string }>(
      'SELECT entry FROM nodes WHERE name = ?',
    ),
    add: database.prepare<[string, string, number]>(
      'INSERT INTO nodes (name, entry, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    remove: database.prepare<[string]>('DELETE FROM nodes WHERE name = ?'),
  };
}

const entryOf = ({ entry }: { readonly entry: string }): NodeEntry =>
  parseNodeEntry(JSON.parse(entry));
