/** Results written to a directory: `ID.json` and `ID.html`, each complete or absent. */
import path from 'node:path';
import { makeDirectory } from '../../disk/make-directory.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { page } from '../../reproduce/page/page.ts';
import { replaceFile } from './vector-file.ts';
import type { Result } from '../../reproduce/result.ts';

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
