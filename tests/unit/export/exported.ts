/** A run's files, read back as rows. */
import { parse } from 'csv-parse/sync';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { storedRuns } from '../../../src/cli/session/stored-runs.ts';
import { runFileParts, type RunFileChoice } from '../../../src/export/run-file.ts';
import type { RunStore } from '../../../src/main/store/run-store.ts';
import type { ExportTableId } from '../../../src/shared/records/export-tables.ts';

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** The bytes of each part of a run's file. */
export async function partsOf(
  store: RunStore,
  run: string,
  choice: Omit<RunFileChoice, 'createdBy'>,
): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  const all = runFileParts(storedRuns(store), run, {
    format: choice.format,
    table: choice.table,
    createdBy: 'gradwire 1.2.3',
  });
  for await (const { content } of all) parts.push(Buffer.from(content as Uint8Array));
  return parts;
}

/** Rows of a table as they are in CSV: texts, empty where nothing was observed. */
export async function csvRows(
  store: RunStore,
  run: string,
  table: ExportTableId,
): Promise<Rows> {
  const parts = await partsOf(store, run, { format: 'csv', table });
  return parse(Buffer.concat(parts), { columns: true });
}

/** Rows of a table as they are in Parquet, and the file's metadata. */
export async function parquetRows(
  store: RunStore,
  run: string,
  table: ExportTableId,
): Promise<{
  readonly rows: Rows;
  readonly metadata: ReturnType<typeof parquetMetadata>;
}> {
  const parts = await partsOf(store, run, { format: 'parquet', table });
  const file = new Uint8Array(Buffer.concat(parts)).buffer;
  return { rows: await parquetReadObjects({ file }), metadata: parquetMetadata(file) };
}

/** A row of Parquet as CSV writes it. */
export const asText = (row: Readonly<Record<string, unknown>>): Rows[number] =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)]));

function textOf(value: unknown): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value as number | bigint);
  // A spreadsheet would take it for a formula.
  return value.startsWith('=') ? `'${value}` : value;
}
