/** A table of a run: columns with names, and rows that are read from the run's records. */
import type { Cell, Column } from '../../shared/records/table-column.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { RunReader } from './run-reader.ts';

/** Some rows of a table, and how far it has been read with them. */
interface RowPage<R> {
  readonly rows: readonly R[];
  /** The part of the run that has been read, 0…1, about. */
  readonly done: number;
}

export interface ExportTable<R> {
  columns(run: RunSummary): readonly Column<R>[];
  /** The rows, a bounded page at a time. */
  pages(reader: RunReader, run: RunSummary): AsyncGenerator<RowPage<R>>;
}

/** A table with the type of its rows hidden: each row is a list of cells. */
export interface CellTable {
  readonly columns: readonly Pick<Column<never>, 'name' | 'kind'>[];
  readonly pages: AsyncGenerator<RowPage<readonly Cell[]>>;
}

/** Reads a table of a run, cell by cell. */
export function cellsOf<R>(
  table: ExportTable<R>,
  reader: RunReader,
  run: RunSummary,
): CellTable {
  const all = table.columns(run);
  async function* read(): CellTable['pages'] {
    for await (const { done, rows } of table.pages(reader, run)) {
      yield { done, rows: rows.map((row) => all.map(({ cell }) => cell(row))) };
    }
  }
  return { columns: all, pages: read() };
}
