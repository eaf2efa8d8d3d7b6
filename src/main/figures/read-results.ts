/** Results of figures in a directory, as `gradwire reproduce` has written them. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileUnreadable } from '../../shared/errors/file-error.ts';
import { parseResult, type Result } from '../../reproduce/result.ts';

/** @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID` */
export async function readResults(directory: string): Promise<readonly Result[]> {
  let names: readonly string[];
  try {
    names = await readdir(directory);
  } catch (cause) {
    throw fileUnreadable(directory, cause);
  }
  const files = names.filter((name) => name.endsWith('.json')).sort();
  return await Promise.all(files.map((name) => readResult(path.join(directory, name))));
}

/** @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID` */
async function readResult(file: string): Promise<Result> {
  let source: string;
  try {
    source = await readFile(file, 'utf8');
  } catch (cause) {
    throw fileUnreadable(file, cause);
  }
  return parseResult(source, file);
}

/**
 * The result of one figure; undefined if there is none.
 * @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID`
 */
export async function storedResult(
  directory: string,
  figure: string,
): Promise<Result | undefined> {
  const file = path.join(directory, `${figure}.json`);
  return existsSync(file) ? await readResult(file) : undefined;
}
