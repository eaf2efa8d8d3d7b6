/**
 * Files that `compress` and `decompress` read and write. A vector is raw little-endian
 * float32, nothing else. A bad file is an input error: exit 2.
 */
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveHome } from '../../main/home/home.ts';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import { fileNotWritable, fileUnreadable } from '../../shared/errors/file-error.ts';
import { writeWhole } from './whole-file.ts';

/** Most bytes that Node.js reads at once, and more than a vector or a payload may have. */
const MOST_BYTES = 2 ** 31 - 1;
/** Most bytes of a state file, which has several vectors. */
const MOST_STATE_BYTES = 2 ** 32;
const PIECE_BYTES = 2 ** 30;

/**
 * @param most bytes
 * @throws GradwireError `FILE_UNREADABLE`, `FILE_TOO_LARGE`
 */
export async function readInput(file: string, most = MOST_BYTES): Promise<Uint8Array> {
  try {
    const about = await stat(file);
    const { size } = about;
    // A device or a pipe need not end.
    if (!about.isFile() && !about.isDirectory()) {
      throw inputError('FILE_UNREADABLE', 'it is not a regular file', {
        place: file,
        next: 'Write the data into a file first.',
      });
    }
    if (size <= MOST_BYTES) return await readFile(file);
    if (size <= most) return await readPieces(file, size);
    throw inputError(
      'FILE_TOO_LARGE',
      `the file has ${size} bytes; at most ${most} are supported`,
      {
        place: file,
        next: 'Split the vector, as a run splits a model into buckets.',
      },
    );
  } catch (cause) {
    if (cause instanceof GradwireError) throw cause;
    throw fileUnreadable(file, cause);
  }
}

/** @param size of the file; its end where it has become shorter since */
async function readPieces(file: string, size: number): Promise<Uint8Array> {
  await using handle = await open(file);
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(
      bytes,
      at,
      Math.min(PIECE_BYTES, size - at),
      at,
    );
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

/** The bytes of a state file, undefined where there is none. */
export async function readStateIfPresent(
  file: string,
): Promise<Uint8Array | undefined> {
  const found = await stat(file).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT',
  );
  return found ? await readInput(file, MOST_STATE_BYTES) : undefined;
}

/** @throws GradwireError `FILE_UNREADABLE`, `FILE_TOO_LARGE`, `VECTOR_SIZE_INVALID` */
export async function readVector(file: string): Promise<Float32Array> {
  const bytes = await readInput(file);
  if (bytes.length % 4 !== 0) {
    throw inputError(
      'VECTOR_SIZE_INVALID',
      `${bytes.length} bytes are not a whole number of 4-byte floats`,
      { place: file, next: 'Give a file of raw little-endian float32 values only.' },
    );
  }
  // A file's bytes need not be where floats may.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, bytes.length / 4);
}

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Refuses an output that is one of the inputs, whatever the paths look like: it would be
 * overwritten.
 * @throws GradwireError `OUTPUT_IS_INPUT`
 */
export const assertApart = (
  output: string,
  inputs: readonly (string | undefined)[],
): Promise<void> => assertAllApart([output], inputs);

/**
 * Does the same for several outputs, and looks at each file once.
 * @throws GradwireError `OUTPUT_IS_INPUT`
 */
export async function assertAllApart(
  outputs: readonly string[],
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const taken = new Map<string, string>();
  for (const input of new Set(inputs)) {
    const identity = input === undefined ? undefined : await identityOf(input);
    if (identity !== undefined) taken.set(identity, input!);
  }
  for (const output of outputs) {
    const own = await identityOf(output);
    const input = own === undefined ? undefined : taken.get(own);
    if (input === undefined) continue;
    throw inputError('OUTPUT_IS_INPUT', `the output would overwrite ${input}`, {
      place: output,
      next: 'Name another file for the output.',
    });
  }
}

/** Files of the home, in which the history and what belongs to it are. */
export function ownFiles(home = resolveHome()): readonly string[] {
  const { appLog, database, knownHosts, lock, lockHolder, rehearsals, supervisorLog } =
    home;
  return [
    ...['', '-wal', '-shm'].map((part) => database + part),
    ...[appLog, knownHosts, lock, lockHolder, rehearsals, supervisorLog],
  ];
}

/** Device and number of a regular file; undefined if there is none. */
async function identityOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // Reading or writing it names the reason.
    return undefined;
  }
}

/**
 * Writes a file, which may be a device, whole or not at all.
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`, `OUTPUT_IS_INPUT`
 */
export async function writeOutput(
  file: string,
  content: Uint8Array | Iterable<string>,
): Promise<void> {
  await assertApart(file, ownFiles());
  try {
    await writeWhole(file, (place) => writeFile(place, content));
  } catch (cause) {
    throw fileNotWritable(file, cause);
  }
}

/**
 * All of it or nothing: a reader finds the old file or the new one.
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`
 */
export async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  const draft = path.join(
    path.dirname(file),
    `.${path.basename(file)}.${process.pid}.tmp`,
  );
  try {
    await writeFile(draft, bytes);
    await replaceDurably(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw fileNotWritable(file, cause);
  }
}

/** Runs the work; its coded errors get the file as their place. */
export async function placedAt<T>(
  file: string,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    throw new GradwireError({ ...error.toData(), place: file }, { cause: error });
  }
}
