/** Results of figures in a directory, as `gradwire reproduce` has written them. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import { fileUnreadable } from '../../shared/errors/file-error.ts';
import { parseResult, type Result } from '../../reproduce/result.ts';

const ENDING = '.json';

/**
 * All results of a directory, none if there is no directory. Other files may lie there: what is no result under
 * the name of its own figure is left alone, unless it has the name of a figure that is known.
 * @param figures ids of figures
 * @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID`, `RESULT_TOO_NEW`
 */
export async function readResults(
  directory: string,
  figures: readonly string[],
): Promise<readonly Result[]> {
  if (!existsSync(directory)) return [];
  const known = new Set(figures.flatMap((id) => [id, `${id}-full`]));
  const results: Result[] = [];
  for (const name of await namesIn(directory)) {
    const figure = path.basename(name, ENDING);
    try {
      results.push(await readResult(directory, figure));
    } catch (error) {
      const isForeign =
        error instanceof GradwireError && error.code === 'RESULT_INVALID';
      if (known.has(figure) || !isForeign) throw error;
    }
  }
  return results;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    const found = await readdir(directory, { withFileTypes: true });
    return found
      .filter((one) => !one.isDirectory() && one.name.endsWith(ENDING))
      .map(({ name }) => name)
      .toSorted();
  } catch (cause) {
    throw fileUnreadable(directory, cause);
  }
}

/** @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID`, `RESULT_TOO_NEW` */
async function readResult(directory: string, figure: string): Promise<Result> {
  const file = path.join(directory, `${figure}${ENDING}`);
  let source: string;
  try {
    source = await readFile(file, 'utf8');
  } catch (cause) {
    throw fileUnreadable(file, cause);
  }
  const result = parseResult(source, file);
  if (result.figure === figure) return result;
  throw inputError('RESULT_INVALID', `this is the result of ${result.figure}`, {
    place: file,
    next: 'Give the file the name of its figure, or move it away.',
  });
}

/**
 * The result of one figure; undefined if there is none.
 * @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID`, `RESULT_TOO_NEW`
 */
export async function storedResult(
  directory: string,
  figure: string,
): Promise<Result | undefined> {
  const isThere = existsSync(path.join(directory, `${figure}${ENDING}`));
  return isThere ? await readResult(directory, figure) : undefined;
}
