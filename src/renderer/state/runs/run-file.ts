/**
 * A run as a file, read part by part. What has been read goes to the browser as blobs, which
 * it keeps on the disk if they are large, so the page's own memory does not grow with the run.
 */
import type { FilePart } from '../../../export/formats/file-part.ts';
import {
  runFileParts,
  type ExportedRuns,
  type RunFileChoice,
} from '../../../export/run-file.ts';
import { EXPORT_FORMATS } from '../../../shared/records/export-format.ts';

/** Characters or bytes that are gathered until they become a blob. */
const GATHERED = 4_000_000;

export interface RunFileOptions extends RunFileChoice {
  readonly signal: AbortSignal;
  /** Called with the part that has been read, 0…1. */
  readonly progress: (part: number) => void;
}

/** Reads a run from a file; undefined if that was cancelled. */
export async function readRunFile(
  runs: ExportedRuns,
  run: string,
  { progress, signal, ...choice }: RunFileOptions,
): Promise<Blob | undefined> {
  const type = EXPORT_FORMATS.find(({ id }) => id === choice.format)!.media;
  const blobs: Blob[] = [];
  let gathered: FilePart['content'][] = [];
  let size = 0;
  const gather = (): void => {
    blobs.push(new Blob(gathered));
    gathered = [];
    size = 0;
  };
  for await (const { content, done } of runFileParts(runs, run, choice)) {
    if (signal.aborted) return undefined;
    gathered.push(content);
    size += content.length;
    if (size > GATHERED) gather();
    progress(done);
  }
  gather();
  return new Blob(blobs, { type });
}
