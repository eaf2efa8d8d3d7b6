/** The tables of a run, by their ids. */
import type { ExportTableId } from '../../shared/records/export-tables.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { bucketTable } from './bucket-rows.ts';
import { eventTable } from './event-table.ts';
import { cellsOf, type CellTable, type ExportTable } from './export-table.ts';
import { iterationTable } from './iteration-rows.ts';
import { gpuTable, machineTable, processTable } from './machine-rows.ts';
import { RECORD_TABLES } from './record-tables.ts';
import type { RunReader } from './run-reader.ts';

type ReadTable = (reader: RunReader, run: RunSummary) => CellTable;

const readerOf =
  <R>(table: ExportTable<R>): ReadTable =>
  (reader, run) =>
    cellsOf(table, reader, run);

/** Tables whose rows are not records of one kind as they are. */
const OTHERS: Readonly<Partial<Record<string, ReadTable>>> = {
  iterations: readerOf(iterationTable),
  events: readerOf(eventTable),
  buckets: readerOf(bucketTable),
  machines: readerOf(machineTable),
  processes: readerOf(processTable),
  gpus: readerOf(gpuTable),
};

/** Reads a table of a run, cell by cell. */
export function readTable(
  id: ExportTableId,
  reader: RunReader,
  run: RunSummary,
): CellTable {
  const ofKind = RECORD_TABLES.get(id);
  const read = ofKind === undefined ? OTHERS[id] : readerOf(ofKind);
  if (read === undefined) throw new Error(`internal: nothing makes the table ${id}`);
  return read(reader, run);
}
