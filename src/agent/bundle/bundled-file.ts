/**
 * The place of a file that is started or read by its path: a thread's script, another
 * process's entry, the kernels. In a checkout it is the source; a deployed agent's
 * folder holds the bundles and can be copied to another machine unchanged.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ErrorCode } from '../../shared/codes/error-code.ts';
import { failure } from '../../shared/errors/errors.ts';

/** Folders to look in: beside a bundle, beside its chunks, in the folder of another bundle. */
const FOLDERS = ['.', '..', '../agent', '../../agent', '../kernels', '../../kernels'];

export interface BundledFile {
  /** Name of the file in dist/. */
  readonly bundle: string;
  /** Path of the file in a checkout, relative to the calling file. */
  readonly source: string;
  /** Code of the error if it is in neither place. */
  readonly missing?: ErrorCode;
}

/**
 * @param from folder of the calling file: `import.meta.dirname`
 * @throws GradwireError `AGENT_MISSING`, or the given code
 */
export function bundledFile(
  { bundle, source, missing = 'AGENT_MISSING' }: BundledFile,
  from: string,
): string {
  const places = [...FOLDERS.map((folder) => path.join(folder, bundle)), source];
  const file = places.map((place) => path.join(from, place)).find(existsSync);
  if (file !== undefined) return file;
  throw failure(missing, `there is no ${bundle} near ${from}`, {
    next: 'Build it with: npm run build',
  });
}
