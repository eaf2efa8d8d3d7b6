/**
 * A run as a file, read piece by piece. What has been read goes to the browser as blobs, which
 * it keeps on the disk if they are large, so the page's own memory does not grow with the run.
 */
import {
  EXPORT_FORMATS,
  type ExportFormat,
} from '../../../shared/records/export-format.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { ExportPiece, ExportPlace } from '../../../shared/rpc/run-pieces.ts';

/** Characters that are gathered until they become a blob. */
const GATHERED = 4_000_000;

export interface RunFileOptions {
  readonly signal: AbortSignal;
  /** Called with the part that has been read, 0…1. */
  readonly progress: (part: number) => void;
}

/** Undefined if it was cancelled. */
export async function readRunFile(
  api: Pick<AppApi, 'exportRun'>,
  run: string,
  format: ExportFormat,
  { progress, signal }: RunFileOptions,
): Promise<Blob | undefined> {
  const type = EXPORT_FORMATS.find(({ id }) => id === format)!.media;
  const blobs: Blob[] = [];
  let texts: string[] = [];
  let characters = 0;
  const gather = (): void => {
    blobs.push(new Blob(texts));
    texts = [];
    characters = 0;
  };
  let place: ExportPlace | undefined;
  do {
    const piece: ExportPiece = await api.exportRun(run, format, place);
    if (signal.aborted) return undefined;
    texts.push(piece.text);
    characters += piece.text.length;
    if (characters > GATHERED) gather();
    progress(piece.done);
    place = piece.next;
  } while (place !== undefined);
  gather();
  return new Blob(blobs, { type });
}
