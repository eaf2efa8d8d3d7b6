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
 * Writes atomically: a reader finds the old file or the new one. A pipe or a device is written where
 * it is, as a file in its place would break what else uses it.
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`
 */
export async function storeVector(
  arena: Arena,
  vector: Vector,
  file: string,
  valueBytes: ValueBytes,
): Promise<void> {
  const bytes = arena.u8(vector.offset, valueBytes * vector.length);
  const found = await stat(file).catch(() => undefined);
  try {
    if (found?.isFile() === false) await write(file, bytes);
    else await replace(file, bytes);
  } catch (cause) {
    throw fileNotWritable(file, cause);
  }
}

async function replace(file: string, bytes: Uint8Array): Promise<void> {
  const draft = path.join(
    path.dirname(file),
    `.${path.basename(file)}.${process.pid}.tmp`,
  );
  try {
    await write(draft, bytes);
    await replaceDurably(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

async function write(place: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(place, 'w');
  for (let at = 0; at < bytes.length;) {
    const length = Math.min(PIECE_BYTES, bytes.length - at);
    // One after another, as a pipe knows no positions.
    at += (await handle.write(bytes, at, length)).bytesWritten;
  }
}
