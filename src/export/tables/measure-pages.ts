/** Rows of tables whose records come beside the iterations. */
import type { ExportTable } from './export-table.ts';
import { measurePieces, type MeasureRecords } from './run-reader.ts';

/** The pages of a table: rows of each record of a part of the export, a piece at a time. */
export function measurePages<P extends keyof MeasureRecords, R>(
  part: P,
  rowsOf: (record: MeasureRecords[P]) => readonly R[],
): ExportTable<R>['pages'] {
  return async function* pages(reader, { id, iterations }) {
    for await (const records of measurePieces(reader, id, part)) {
      const last = records.at(-1)?.to ?? 0;
      yield {
        rows: records.flatMap(rowsOf),
        done: Math.min(1, last / Math.max(1, iterations)),
      };
    }
    yield { rows: [], done: 1 };
  };
}
