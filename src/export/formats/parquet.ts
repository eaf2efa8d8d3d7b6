/**
 * A table as Apache Parquet: Snappy, a group of rows at a time, so that memory depends on the
 * number of columns and not on the length of the run. Whole numbers are INT64, others DOUBLE,
 * texts UTF-8; null is what was not observed.
 */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Cell, ColumnKind } from '../../shared/records/table-column.ts';
import type { CellTable } from '../tables/export-table.ts';
import type { FilePart } from './file-part.ts';

/** Cells of a group of rows, and its rows at most: some megabytes of memory. */
const GROUP_CELLS = 600_000;
const MOST_ROWS = 16_384;
const LEAST_ROWS = 64;

/** The types of Parquet, as its schema states them. */
const TYPES = {
  whole: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
} as const satisfies Record<ColumnKind, object>;

export interface ParquetFacts {
  /** Facts of the file as a whole, which readers show as its metadata. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The program that wrote it, with its version. */
  readonly createdBy: string;
}

/** Bytes of a table as a Parquet file: a part, often empty, for each page that was read. */
export async function* parquetParts(
  { columns, pages }: CellTable,
  { createdBy, metadata }: ParquetFacts,
): AsyncGenerator<FilePart> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ kind, name }) => ({
        name,
        ...TYPES[kind],
        repetition_type: 'OPTIONAL' as const,
      })),
    ],
    createdBy,
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  });
  const most = Math.max(
    LEAST_ROWS,
    Math.min(MOST_ROWS, Math.floor(GROUP_CELLS / columns.length)),
  );
  let rows: (readonly Cell[])[] = [];
  const group = (of: readonly (readonly Cell[])[]): void => {
    const made = writer.write({
      columnData: columns.map(({ kind, name }, index) => ({
        name,
        data: of.map((row) => stored(row[index], kind)),
        offsetIndex: false,
      })),
      rowGroupSize: most,
    });
    if (made !== undefined) throw new Error('internal: the bytes were not written');
  };
  for await (const { done, rows: more } of pages) {
    rows.push(...more);
    while (rows.length >= most) {
      group(rows.slice(0, most));
      rows = rows.slice(most);
    }
    yield { content: taken(bytes), done };
  }
  if (rows.length > 0) group(rows);
  await writer.finish();
  yield { content: taken(bytes), done: 1 };
}

const stored = (cell: Cell, kind: ColumnKind): bigint | number | string | null => {
  if (cell === undefined) return null;
  return kind === 'whole' ? BigInt(cell) : cell;
};

/** Takes the bytes that were written; `offset` still counts all of the file. */
function taken(writer: ByteWriter): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(writer.getBuffer());
  writer.index = 0;
  return bytes;
}
