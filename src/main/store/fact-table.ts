/**
 * Facts that were last found out about machines, kept so that the app shows them after a
 * restart; those that a command has found as well.
 */
import type Database from 'better-sqlite3';
import {
  networkProfileSchema,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import type { NodeFacts } from '../../shared/machines/node-status.ts';
import { readPreflight } from '../../shared/machines/preflight.ts';
import { databaseError } from './database-error.ts';
import type { KnownNode } from './link-table.ts';
import { jsonOrNothing } from './stored-json.ts';

interface Row {
  readonly name: string;
  readonly identity: string;
  readonly preflight: string | null;
  readonly checked_at: number | null;
  readonly agent: string | null;
  readonly network: string | null;
}

export class FactTable {
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #database: Database.Database;
  /** Profiles by their text: the app looks at them whenever something has changed. */
  readonly #networks = new Map<string, NetworkProfile>();

  constructor(database: Database.Database, file: string) {
    this.#database = database;
    this.#file = file;
    this.#statements = prepare(database);
  }

  /** Facts of a machine; none if the stored ones belong to another machine of that name. */
  of(node: KnownNode): NodeFacts {
    const row = this.#guard(() => this.#statements.one.get(node.name));
    return row?.identity === node.identity ? factsOf(row) : {};
  }

  /** Replaces the facts that are given; `agent: undefined` means that none is installed. */
  note(node: KnownNode, news: NodeFacts): void {
    const note = (): void => {
      const before = this.of(node);
      const facts = { ...before, ...news };
      // Nearly every connection finds the agent that is known.
      if (JSON.stringify(facts) === JSON.stringify(before)) return;
      this.#statements.put.run({
        name: node.name,
        identity: node.identity,
        preflight:
          facts.preflight === undefined ? null : JSON.stringify(facts.preflight),
        checkedAt: facts.checkedAt ?? null,
        agent: facts.agent ?? null,
      });
    };
    this.#guard(() => {
      this.#database.transaction(note).immediate();
    });
  }

  /**
   * Returns what was measured between ranks there; undefined if nothing was, or not on this
   * machine.
   */
  network(node: KnownNode): NetworkProfile | undefined {
    const row = this.#guard(() => this.#statements.one.get(node.name));
    if (row === undefined || row.network === null) return undefined;
    if (row.identity !== node.identity) return undefined;
    const known = this.#networks.get(row.network);
    if (known !== undefined) return known;
    // One that another version wrote in another form counts as none.
    const profile = networkProfileSchema.safeParse(jsonOrNothing(row.network)).data;
    if (profile !== undefined) this.#networks.set(row.network, profile);
    return profile;
  }

  noteNetwork({ name, identity }: KnownNode, profile: NetworkProfile): void {
    const network = JSON.stringify(profile);
    this.#guard(() => this.#statements.putNetwork.run({ name, identity, network }));
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
    one: database.prepare<[string], Row>('SELECT * FROM node_facts WHERE name = ?'),
    put: database.prepare<[Record<string, string | number | null>]>(
      `INSERT INTO node_facts (name, identity, preflight, checked_at, agent)
        VALUES (@name, @identity, @preflight, @checkedAt, @agent)
        ON CONFLICT DO UPDATE SET preflight = @preflight, checked_at = @checkedAt,
          agent = @agent, network = iif(identity = @identity, network, NULL),
          identity = @identity`,
    ),
    /** The facts of a different machine of that name are removed. */
    putNetwork: database.prepare<[Record<string, string>]>(
      `INSERT INTO node_facts (name, identity, network)
        VALUES (@name, @identity, @network)
        ON CONFLICT DO UPDATE SET network = @network,
          preflight = iif(identity = @identity, preflight, NULL),
          checked_at = iif(identity = @identity, checked_at, NULL),
          agent = iif(identity = @identity, agent, NULL), identity = @identity`,
    ),
  };
}

/** A report that another version wrote in another form counts as none. */
function factsOf({ preflight, checked_at: at, agent }: Row): NodeFacts {
  const seen = readPreflight(jsonOrNothing(preflight));
  return {
    ...(seen === undefined || at === null ? {} : { preflight: seen, checkedAt: at }),
    ...(agent === null ? {} : { agent }),
  };
}
