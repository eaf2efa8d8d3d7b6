/** The tables of a run, by their ids. */
import type { ExportTableId } from '../../shared/records/export-format.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { bucketTable } from './bucket-rows.ts';
import { eventTable, evaluationTable, switchTable } from './event-tables.ts';
import { cellsOf, type CellTable } from './export-table.ts';
import { iterationTable } from './iteration-rows.ts';
import { gpuTable, machineTable, processTable } from './machine-rows.ts';
import type { RunReader } from './run-reader.ts';

/** Reads a table of a run, cell by cell. */
export function readTable(
  id: ExportTableId,
  reader: RunReader,
  run: RunSummary,
): CellTable {
  switch (id) {
    case 'iterations':
      return cellsOf(iterationTable, reader, run);
    case 'evaluations':
      return cellsOf(evaluationTable, reader, run);
    case 'switches':
      return cellsOf(switchTable, reader, run);
    case 'events':
      return cellsOf(eventTable, reader, run);
    case 'buckets':
      return cellsOf(bucketTable, reader, run);
    case 'machines':
      return cellsOf(machineTable, reader, run);
    case 'processes':
      return cellsOf(processTable, reader, run);
    case 'gpus':
      return cellsOf(gpuTable, reader, run);
    default:
      return id satisfies never;
  }
}
