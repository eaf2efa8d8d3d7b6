/** The file that an export is written to. */
import path from 'node:path';
import { makeDirectory } from '../../disk/make-directory.ts';
import { exportFileName } from '../../export/file-name.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import type { ExportFormat } from '../../shared/records/export-format.ts';

/**
 * The file of an export, in a directory that exists; undefined: standard output. TensorBoard shows
 * each directory as a run, so there a run has one of its own in the directory that was given.
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`
 */
export async function exportFile(
  run: string,
  format: ExportFormat,
  output: string | undefined,
): Promise<string | undefined> {
  if (output === undefined || format !== 'tensorboard') return output;
  const directory = path.join(output, run);
  try {
    await makeDirectory(directory);
  } catch (cause) {
    throw fileNotWritable(directory, cause);
  }
  return path.join(directory, exportFileName(run, format));
}
