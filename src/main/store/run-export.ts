/**
 * A run as a file, streamed in pieces of bounded size: JSON (one object: run, spec, events,
 * log, iterations) or CSV (one row per iteration and rank). Both contain exactly the stored
 * data; in CSV an empty cell is a quantity that was not observed.
 */
import { PHASES } from '../../shared/phases.ts';
import type { IterationRecord } from '../../shared/records.ts';
import type { ExportFormat, RunSummary } from '../../shared/rpc.ts';
import type { RunStore } from './run-store.ts';

type Cell = string | number | undefined;

/** Pieces of the export, to be written one after the other. */
export function* exportRun(
  store: RunStore,
  run: string,
  format: ExportFormat,
): Generator<string> {
  yield* format === 'json' ? exportJson(store, run) : exportCsv(store, run);
}

function* exportJson(store: RunStore, run: string): Generator<string> {
  const { spec, events } = store.detail(run);
  yield `{"run":${JSON.stringify(store.summary(run))},\n"spec":${JSON.stringify(spec)},\n"events":[`;
  let separator = '\n';
  for (const event of events) {
    yield separator + JSON.stringify(event);
    separator = ',\n';
  }
  yield '\n],\n"log":[';
  separator = '\n';
  for (const line of store.logLines(run)) {
    yield separator + JSON.stringify(line);
    separator = ',\n';
  }
  yield '\n],\n"iterations":[';
  separator = '\n';
  for (const iteration of store.allIterations(run)) {
    yield separator + JSON.stringify(iteration);
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** CSV's columns by name: units in the names, milliseconds and bytes. */
function columns({
  ranks,
  emulated,
}: RunSummary): readonly (readonly [string, (r: IterationRecord) => Cell])[] {
  return [
    ['iteration', (record) => record.iteration],
    ['rank', (record) => record.rank],
    ['at_ms', (record) => record.at],
    ['wall_ms', (record) => record.wall],
    ...PHASES.map(
      (phase) =>
        [`${phase}_ms`, (record: IterationRecord) => record.phases[phase]] as const,
    ),
    ...Array.from(
      { length: ranks },
      (_, rank) =>
        [
          `waited_for_${rank}_ms`,
          (record: IterationRecord) => record.waitedFor?.[rank],
        ] as const,
    ),
    ['overlapped_ms', (record) => record.overlapped],
    ['dense_bytes', (record) => record.bytes.dense],
    ['payload_bytes', (record) => record.bytes.payload],
    ['wire_sent_bytes', (record) => record.bytes.wireSent],
    ['wire_received_bytes', (record) => record.bytes.wireReceived],
    ['framing_sent_bytes', (record) => record.bytes.framingSent],
    ['framing_received_bytes', (record) => record.bytes.framingReceived],
    ['activations_dense_bytes', (record) => record.activations?.dense],
    ['activations_payload_bytes', (record) => record.activations?.payload],
    ['nnz_local', (record) => record.nnzLocal],
    ['nnz_reduced', (record) => record.nnzReduced],
    ['density', (record) => record.density],
    ['residual_norm', (record) => record.residualNorm],
    ['loss', (record) => record.loss],
    ['metric', (record) => record.metric],
    ['lr', (record) => record.lr],
    ['epoch', (record) => record.epoch],
    ['method', (record) => record.method],
    ['collective', (record) => record.collective],
    ['staleness', (record) => record.staleness ?? 0],
    ['trainer_thread', (record) => record.trainerThread],
    ['drained', (record) => Number(record.drained ?? false)],
    ['exchanged', (record) => Number(record.exchanged ?? true)],
    // The same in every row: rows are often taken without their run.
    ['emulated', () => emulated],
  ];
}

function* exportCsv(store: RunStore, run: string): Generator<string> {
  const table = columns(store.summary(run));
  yield `${table.map(([name]) => name).join(',')}\n`;
  for (const record of store.allIterations(run)) {
    yield `${table.map(([, cell]) => quote(cell(record))).join(',')}\n`;
  }
}

function quote(cell: Cell): string {
  if (cell === undefined) return '';
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
