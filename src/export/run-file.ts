/** A run as a file in any format, read and made part by part. */
import {
  PIECE_FORMAT_IDS,
  type ExportFormat,
  type PieceFormat,
} from '../shared/records/export-format.ts';
import { type ExportTableId } from '../shared/records/export-tables.ts';
import type { CoreApi } from '../shared/rpc/rpc.ts';
import type { ExportPiece, ExportPlace } from '../shared/rpc/run-pieces.ts';
import type { RunDetail } from '../shared/rpc/run-summary.ts';
import type { RunReader } from './tables/run-reader.ts';
import { readTable } from './tables/tables.ts';
import { csvParts } from './formats/csv.ts';
import type { FilePart } from './formats/file-part.ts';

/** The calls by which an exported run is read. */
export type ExportedRuns = RunReader & Pick<CoreApi, 'run'>;

export interface RunFileChoice {
  readonly format: ExportFormat;
  /** Default: the iterations. Formats without tables ignore it. */
  readonly table?: ExportTableId | undefined;
  /** The program that writes it, with its version. */
  readonly createdBy: string;
}

/** The parts of a run's file, in order. A page loads what makes them when someone exports. */
export async function* runFileParts(
  runs: ExportedRuns,
  id: string,
  { createdBy, format, table = 'iterations' }: RunFileChoice,
): AsyncGenerator<FilePart> {
  if (isPieceFormat(format) && (format !== 'csv' || table === 'iterations')) {
    yield* pieces(runs, id, format);
    return;
  }
  const run = await runs.run(id);
  if (format === 'tensorboard') {
    const { eventFileParts } = await import('./tensorboard/run-events.ts');
    yield* eventFileParts(runs, run);
    return;
  }
  const cells = readTable(table, runs, run);
  if (format === 'csv') {
    yield* csvParts(cells);
    return;
  }
  const { parquetParts } = await import('./formats/parquet.ts');
  yield* parquetParts(cells, { createdBy, metadata: factsOf(run, table) });
}

const isPieceFormat = (format: ExportFormat): format is PieceFormat =>
  (PIECE_FORMAT_IDS as readonly string[]).includes(format);

async function* pieces(
  runs: ExportedRuns,
  id: string,
  format: PieceFormat,
): AsyncGenerator<FilePart> {
  let place: ExportPlace | undefined;
  do {
    const piece: ExportPiece = await runs.exportRun(id, format, place);
    yield { content: piece.text, done: piece.done };
    place = piece.next;
  } while (place !== undefined);
}

/** Facts that a table alone does not say: which run it is of. */
const factsOf = (
  { id, name, spec }: RunDetail,
  table: ExportTableId,
): Readonly<Record<string, string>> => ({
  'gradwire.table': table,
  'gradwire.run': id,
  'gradwire.name': name,
  'gradwire.spec': JSON.stringify(spec),
});
