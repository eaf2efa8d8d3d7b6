/**
 * Files of raw little-endian float32 or float64, read into the arena and written from it. Errors
 * in a file are the user's to fix.
 */
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { fileNotWritable, fileUnreadable } from '../../shared/errors/file-error.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { ValueBytes } from '../memory/value-type.ts';

/** Bytes read or written per call; file calls take less than 2 GiB. */
const PIECE_BYTES = 64 * 2 ** 20;

/**
 * Counts the elements of a file, from its size alone.
 * @throws GradwireError `FILE_UNREADABLE`, `VECTOR_SIZE_INVALID`
 */
export async function vectorLength(
  file: string,
  valueBytes: ValueBytes,
): Promise<number> {
  let bytes: number;
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new Error('it is not a file');
    bytes = found.size;
  } catch (cause) {
    throw fileUnreadable(file, cause);
  }
  if (bytes % valueBytes === 0) return bytes / valueBytes;
  throw inputError(
    'VECTOR_SIZE_INVALID',
    `${bytes} bytes are not a whole number of ${valueBytes}-byte floats`,
    {
      place: file,
      next: `Give a file of raw little-endian float${8 * valueBytes} values only.`,
    },
  );
}

/** @throws GradwireError `FILE_UNREADABLE`, `VECTOR_SIZE_INVALID`, `ARENA_EXHAUSTED` */
export async function loadVector(
  arena: Arena,
  file: string,
  valueBytes: ValueBytes,
): Promise<Vector> {
  const length = await vectorLength(file, valueBytes);
  const { offset } = arena.allocate(valueBytes * length);
  const bytes = arena.u8(offset, valueBytes * length);
  try {
    await using handle = await open(file, 'r');
    for (let at = 0; at < bytes.length;) {
      const length = Math.min(PIECE_BYTES, bytes.length - at);
      const { bytesRead } = await handle.read(bytes, at, length, at);
      if (bytesRead === 0) throw new Error('it was truncated while being read');
      at += bytesRead;
    }
  } catch (cause) {
    throw fileUnreadable(file, cause);
  }
  return { offset, length };
}

/**
 * Writes atomically: a reader finds the old file or the new one.
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`
 */
export async function storeVector(
  arena: Arena,
  vector: Vector,
  file: string,
  valueBytes: ValueBytes,
): Promise<void> {
  const draft = path.join(
    path.dirname(file),
    `.${path.basename(file)}.${process.pid}.tmp`,
  );
  const bytes = arena.u8(vector.offset, valueBytes * vector.length);
  try {
    await using handle = await open(draft, 'w');
    for (let at = 0; at < bytes.length;) {
      const length = Math.min(PIECE_BYTES, bytes.length - at);
      at += (await handle.write(bytes, at, length, at)).bytesWritten;
    }
    await replaceDurably(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw fileNotWritable(file, cause);
  }
}
