/** Lines of CSV. */
import { csvCell } from '../../shared/words/csv-cell.ts';
import type { Cell } from '../../shared/records/table-column.ts';
import type { CellTable } from '../tables/export-table.ts';
import type { FilePart } from './file-part.ts';

/** Lines of a table as CSV, a page at a time. */
export async function* csvParts({
  columns,
  pages,
}: CellTable): AsyncGenerator<FilePart> {
  yield { content: csvLine(columns.map(({ name }) => name)), done: 0 };
  for await (const { done, rows } of pages) {
    yield { content: rows.map(csvLine).join(''), done };
  }
}

/** A line, with its end. */
export const csvLine = (cells: readonly Cell[]): string =>
  `${cells.map(csvCell).join(',')}\n`;
