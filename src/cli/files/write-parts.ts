/** Writes an export as it is read: to a file, or to standard output. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FilePart } from '../../export/formats/file-part.ts';
import { failure } from '../../shared/errors/errors.ts';
import { writeAdvice } from '../../shared/errors/write-advice.ts';
import { assertApart, ownFiles } from './vector-file.ts';
import { writeWhole } from './whole-file.ts';

/**
 * @param output a file; default: standard output
 * @param progress called with the part that has been read, 0…1
 * @throws GradwireError `EXPORT_WRITE_FAILED`, `OUTPUT_IS_INPUT`
 */
export async function writeParts(
  parts: AsyncIterable<FilePart>,
  output: string | undefined,
  progress: (done: number) => void,
): Promise<void> {
  if (output !== undefined) await assertApart(output, ownFiles());
  const contents = Readable.from(contentsOf(parts, progress), { objectMode: true });
  try {
    if (output === undefined) await pipeline(contents, process.stdout, { end: false });
    else {
      // Half an export could be taken for a whole one.
      await writeWhole(output, (place) => pipeline(contents, createWriteStream(place)));
    }
  } catch (cause) {
    const { code, message, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'EPIPE') return; // the reader has had enough
    if (syscall === undefined) throw cause;
    throw exportFailed(cause, message);
  }
}

/**
 * Writes a text that is whole.
 * @throws GradwireError `EXPORT_WRITE_FAILED`
 */
export async function writeText(
  text: string,
  output: string | undefined,
): Promise<void> {
  async function* parts(): AsyncGenerator<FilePart> {
    yield await Promise.resolve({ content: text, done: 1 });
  }
  await writeParts(parts(), output, () => undefined);
}

/** The error of an export that could not be written. */
const exportFailed = (cause: unknown, message: string): Error =>
  failure('EXPORT_WRITE_FAILED', `cannot write the export: ${message}`, {
    next: writeAdvice(cause, 'Free space on that disk, or give another file.'),
  });

async function* contentsOf(
  parts: AsyncIterable<FilePart>,
  progress: (done: number) => void,
): AsyncGenerator<FilePart['content']> {
  for await (const { content, done } of parts) {
    progress(done);
    // A stream takes an empty text for its end.
    if (content.length > 0) yield content;
  }
}
