/** Tables of what a run says besides its iterations, read from its log. */
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { Column } from '../../shared/records/table-column.ts';
import type { ExportTable } from './export-table.ts';
import { logPages } from './run-reader.ts';

/** A table with a row for each entry of the log that it takes. */
export function logTable<R>(
  columns: readonly Column<R>[],
  take: (entry: JournalEntry) => readonly R[],
): ExportTable<R> {
  return {
    columns: () => columns,
    async *pages(reader, { id }) {
      for await (const page of logPages(reader, id)) {
        yield { rows: page.flatMap(take), done: 0 };
      }
      yield { rows: [], done: 1 };
    },
  };
}
