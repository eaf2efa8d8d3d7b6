/** Reads the traces of a run: which iterations have one, and their records in pieces. */
import type { TraceRecord } from '../../shared/records/trace.ts';
import type {
  TracedStretch,
  TracePiece,
  TracePlace,
} from '../../shared/rpc/run-pieces.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { RunRows } from './run-rows.ts';
import { TRACES_PAGE, type Statements, type StoredRow } from './statements.ts';
import { bytesOf } from './stored-rows.ts';

/** Most bytes of a piece, so that none holds up what else is sent. */
const PIECE_BYTES = 2 ** 20;

export interface TraceSources {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly rows: RunRows;
}

export class TraceReads {
  readonly #sources: TraceSources;

  constructor(sources: TraceSources) {
    this.#sources = sources;
  }

  /** Stretches of consecutive iterations that were traced, in order. */
  stretches(id: string): readonly TracedStretch[] {
    const { database, rows, statements } = this.#sources;
    const stretches: TracedStretch[] = [];
    for (const { iteration, records } of database.guard(() =>
      statements.tracedIterations.all(rows.row(id).number),
    )) {
      const last = stretches.at(-1);
      if (last?.to === iteration) {
        const more = { to: iteration + 1, records: last.records + records };
        stretches[stretches.length - 1] = { ...last, ...more };
      } else stretches.push({ from: iteration, to: iteration + 1, records });
    }
    return stretches;
  }

  /** The first records of a range, by iteration and rank, as many as fit into a message. */
  piece(id: string, { from, fromRank = 0, to }: TracePlace): TracePiece {
    const { database, rows, statements } = this.#sources;
    // Row by row: a page of records may have a hundred times as much as a piece.
    const { fit, isLast } = database.guard(() => {
      const place = { run: rows.row(id).number, from, fromRank, to };
      const fit: StoredRow[] = [];
      let bytes = 0;
      for (const row of statements.traces.iterate(place)) {
        bytes += bytesOf(row);
        if (bytes > PIECE_BYTES && fit.length > 0) return { fit, isLast: false };
        fit.push(row);
      }
      return { fit, isLast: fit.length < TRACES_PAGE };
    });
    const records = fit.map(({ record }) => JSON.parse(record) as TraceRecord);
    const last = records.at(-1);
    return isLast
      ? { records }
      : { records, next: { from: last!.iteration, fromRank: last!.rank + 1 } };
  }
}
