/** Results in a directory: `ID.json` and `ID.html`, each complete or absent. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../disk/make-directory.ts';
import { fileNotWritable, fileUnreadable } from '../../shared/errors/file-error.ts';
import { page } from '../../reproduce/page/page.ts';
import { replaceFile } from './vector-file.ts';
import { parseResult, type Result } from '../../reproduce/result.ts';

/** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
export async function openResultDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
  } catch (cause) {
    throw fileNotWritable(directory, cause);
  }
}

/** @returns the page's path; @throws GradwireError `OUTPUT_NOT_WRITABLE` */
export async function writeResult(directory: string, result: Result): Promise<string> {
  const place = path.join(directory, result.figure);
  const whole = async (ending: string, content: string): Promise<void> => {
    await replaceFile(`${place}.${ending}`, Buffer.from(content));
  };
  await whole('json', `${JSON.stringify(result, null, 1)}\n`);
  await whole('html', page(result));
  return `${place}.html`;
}

/** @throws GradwireError `FILE_UNREADABLE`, `RESULT_INVALID` */
export async function readResults(directory: string): Promise<readonly Result[]> {
  let names: readonly string[];
  try {
    names = await readdir(directory);
  } catch (cause) {
    throw fileUnreadable(directory, cause);
  }
  const files = names.filter((name) => name.endsWith('.json')).sort();
  return await Promise.all(
    files.map(async (name) => {
      const file = path.join(directory, name);
      let source: string;
      try {
        source = await readFile(file, 'utf8');
      } catch (cause) {
        throw fileUnreadable(file, cause);
      }
      return parseResult(source, file);
    }),
  );
}
