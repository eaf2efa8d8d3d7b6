/** Reads what the machines of a run did, from what their supervisors have recorded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UtilisationRecord } from '../../shared/records/utilisation.ts';
import type { MachineQuery } from '../../shared/utilisation/machine-query.ts';
import {
  MachineTableBuilder,
  type MachineTable,
} from '../../shared/utilisation/machine-table.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements, StoredRow } from './statements.ts';

/** Records that are read at once: some 10 ms. */
const PAGE = 1000;

export interface UtilisationSources {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly rows: RunRows;
}

export class UtilisationReads {
  readonly #sources: UtilisationSources;

  constructor(sources: UtilisationSources) {
    this.#sources = sources;
  }

  /** The machines in a part of a run. Others get their turns meanwhile. */
  async table(id: string, query: MachineQuery): Promise<MachineTable> {
    const { database, rows, statements } = this.#sources;
    const { from, to } = query;
    const run = rows.row(id).number;
    const places = database.guard(() =>
      statements.utilisationPlaces.all({ run, from, to }),
    );
    const builder = new MachineTableBuilder(query, places);
    for (let begin = 0; begin < places.length; begin += PAGE) {
      if (begin > 0) await nextTurn();
      for (const { sequence } of places.slice(begin, begin + PAGE)) {
        const row = database.guard(() => statements.utilisationAt.get(run, sequence));
        // It may have been purged meanwhile.
        if (row !== undefined) builder.add(JSON.parse(row.record) as UtilisationRecord);
      }
    }
    return builder.table();
  }

  /** Some records of a run, in the order of arrival, as they are stored. */
  after(id: string, sequence: number): readonly StoredRow[] {
    const { database, rows, statements } = this.#sources;
    const place = { run: rows.row(id).number, after: sequence, limit: PAGE };
    return database.guard(() => statements.utilisationAfter.all(place));
  }
}
