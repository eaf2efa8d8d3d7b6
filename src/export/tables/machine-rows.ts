/**
 * Tables of the machines beside the step: a row for each machine's interval, and for each rank and
 * GPU in it. They have what was recorded, and the shares that pages and commands show.
 */
import { machineName } from '../../shared/machines/machine-names.ts';
import type {
  GpuUse,
  RankUse,
  UtilisationRecord,
} from '../../shared/records/utilisation.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import {
  MACHINE_MEASURE_IDS,
  MACHINE_MEASURES,
  machineValues,
  type MachineMeasure,
  type MachineValues,
} from '../../shared/utilisation/machine-measures.ts';
import { snakeCase } from './column-name.ts';
import type { Column } from '../../shared/records/table-column.ts';
import type { ExportTable } from './export-table.ts';
import { measurePages } from './measure-pages.ts';

interface IntervalRow {
  readonly record: UtilisationRecord;
}

interface MachineRow extends IntervalRow {
  readonly values: MachineValues;
}

interface ProcessRow extends IntervalRow {
  readonly use: RankUse;
}

interface GpuRow extends IntervalRow {
  readonly gpu: GpuUse;
}

/** The place of a row: its machine and interval. */
const placeColumns = ({ nodes }: RunSummary): readonly Column<IntervalRow>[] => [
  {
    name: 'machine',
    kind: 'text',
    cell: ({ record }) => machineName(record.node, nodes),
  },
  { name: 'from_iteration', kind: 'whole', cell: ({ record }) => record.from },
  { name: 'to_iteration', kind: 'whole', cell: ({ record }) => record.to },
  { name: 'at_ms', kind: 'number', cell: ({ record }) => record.at },
  { name: 'wall_ms', kind: 'number', cell: ({ record }) => record.wall },
];

const RECORDED: readonly Column<MachineRow>[] = [
  {
    name: 'processors',
    kind: 'number',
    cell: ({ record }) => record.processors?.count,
  },
  {
    name: 'processors_busy',
    kind: 'number',
    cell: ({ record }) => record.processors?.busy,
  },
  {
    name: 'processors_peak',
    kind: 'number',
    cell: ({ record }) => record.processors?.peak,
  },
  {
    name: 'processors_supervisor',
    kind: 'number',
    cell: ({ record }) => record.processors?.own,
  },
  {
    name: 'processors_stolen',
    kind: 'number',
    cell: ({ record }) => record.processors?.stolen,
  },
  { name: 'memory_bytes', kind: 'whole', cell: ({ record }) => record.memory?.total },
  {
    name: 'memory_used_bytes',
    kind: 'whole',
    cell: ({ record }) => record.memory?.used,
  },
];

/** Shares of 0…1, and bytes per second. */
const measureColumn = (measure: MachineMeasure): Column<MachineRow> => ({
  name:
    MACHINE_MEASURES[measure].unit === 'rate'
      ? `${snakeCase(measure)}_bytes_per_s`
      : `${snakeCase(measure)}_share`,
  kind: 'number',
  cell: ({ values }) => values[measure],
});

export const machineTable = tableOf<MachineRow>(
  [...RECORDED, ...MACHINE_MEASURE_IDS.map(measureColumn)],
  (record) => [{ record, values: machineValues(record) }],
);

export const processTable = tableOf<ProcessRow>(
  [
    { name: 'rank', kind: 'whole', cell: ({ use }) => use.rank },
    { name: 'processors_busy', kind: 'number', cell: ({ use }) => use.busy },
    { name: 'memory_used_bytes', kind: 'whole', cell: ({ use }) => use.memory },
  ],
  (record) => record.ranks.map((use) => ({ record, use })),
);

export const gpuTable = tableOf<GpuRow>(
  [
    { name: 'bus', kind: 'text', cell: ({ gpu }) => gpu.bus },
    { name: 'name', kind: 'text', cell: ({ gpu }) => gpu.name },
    { name: 'busy_share', kind: 'number', cell: ({ gpu }) => gpu.busy },
    { name: 'memory_used_bytes', kind: 'whole', cell: ({ gpu }) => gpu.memory },
    { name: 'memory_bytes', kind: 'whole', cell: ({ gpu }) => gpu.total },
  ],
  (record) => (record.gpus ?? []).map((gpu) => ({ record, gpu })),
);

function tableOf<R extends IntervalRow>(
  columns: readonly Column<R>[],
  rowsOf: (record: UtilisationRecord) => readonly R[],
): ExportTable<R> {
  return {
    columns: (run) => [...placeColumns(run), ...columns],
    pages: measurePages('utilisation', rowsOf),
  };
}
