/**
 * A file that is written atomically: a header of plain data and parts of bytes, verified by
 * SHA-256 when it is read. It is written beside its final path and renamed once it is on
 * the disk.
 *
 *   magic "GWC1" · u32 length and MessagePack of { header, sizes } · parts · SHA-256
 *
 * Cost: every byte is written and hashed once; no further copy of the parts is held.
 */
import { createHash } from 'node:crypto';
import { open, mkdir, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { replaceDurably, syncDirectory } from '../../disk/durable-replacement.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { writeAdvice } from '../../shared/errors/write-advice.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';

const MAGIC = Buffer.from('GWC1');
const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
/** Bytes hashed, written or read per call: Node takes less than 2 GiB. */
const PIECE_BYTES = 256 * 2 ** 20;

export interface CheckpointContent {
  /** Plain data, as MessagePack keeps it. */
  readonly header: unknown;
  readonly parts: readonly Uint8Array[];
}

/**
 * @param pieceBytes most bytes per call of the system
 * @returns bytes of the file
 * @throws GradwireError `CHECKPOINT_WRITE_FAILED`: nothing is left of it
 */
export async function writeCheckpoint(
  file: string,
  { header, parts }: CheckpointContent,
  pieceBytes = PIECE_BYTES,
): Promise<number> {
  const draft = `${file}.draft`;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const folder = path.dirname(file);
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) syncDirectory(path.dirname(made));
    const handle = await open(draft, 'w', 0o600);
    try {
      const sizes = parts.map(({ byteLength }) => byteLength);
      for (const part of [MAGIC, encodeFrame({ header, sizes }), ...parts]) {
        for (const piece of piecesOf(part, pieceBytes)) {
          hash.update(piece);
          await writeAll(handle, piece);
        }
        bytes += part.byteLength;
      }
      await writeAll(handle, hash.digest());
    } finally {
      await handle.close();
    }
    await replaceDurably(draft, file);
  } catch (cause) {
    // Even if the draft cannot be removed, the first error is the one to report.
    await rm(draft, { force: true }).catch(() => undefined);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw failure('CHECKPOINT_WRITE_FAILED', `cannot write ${file}: ${reason}`, {
      next: writeAdvice(
        cause,
        'Free space on that disk; on this computer, GRADWIRE_HOME may name a directory on another one.',
      ),
    });
  }
  return bytes + DIGEST_BYTES;
}

/**
 * @param pieceBytes most bytes per call of the system
 * @throws GradwireError `CHECKPOINT_INVALID`
 */
export async function readCheckpoint(
  file: string,
  pieceBytes = PIECE_BYTES,
): Promise<CheckpointContent> {
  try {
    return await readWhole(file, pieceBytes);
  } catch (cause) {
    // Also a disk that cannot be read there: an older checkpoint may be good.
    if (cause instanceof GradwireError) throw cause;
    throw invalid(file, cause instanceof Error ? cause.message : String(cause));
  }
}

async function readWhole(file: string, pieceBytes: number): Promise<CheckpointContent> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const hash = createHash('sha256');
    let left = size - DIGEST_BYTES;
    const take = async (bytes: number): Promise<Uint8Array> => {
      if (bytes > left) throw invalid(file, 'it is truncated');
      const part = new Uint8Array(bytes);
      for (const piece of piecesOf(part, pieceBytes)) {
        await fill(handle, piece, file);
        hash.update(piece);
      }
      left -= bytes;
      return part;
    };
    if (!MAGIC.equals(await take(MAGIC.length)))
      throw invalid(file, 'it does not start like a checkpoint');
    const length = await take(LENGTH_BYTES);
    const body = await take(Buffer.from(length).readUInt32LE());
    const { header, sizes } = headOf(file, Buffer.concat([length, body]));
    const parts: Uint8Array[] = [];
    for (const bytes of sizes) parts.push(await take(bytes));
    if (left !== 0) throw invalid(file, `it has ${left} extra bytes at its end`);
    const digest = new Uint8Array(DIGEST_BYTES);
    await fill(handle, digest, file);
    if (!hash.digest().equals(digest)) throw invalid(file, 'its digest does not match');
    return { header, parts };
  } finally {
    await handle.close();
  }
}

interface Head {
  readonly header: unknown;
  readonly sizes: readonly number[];
}

function headOf(file: string, frame: Uint8Array): Head {
  let head: Partial<Head> | undefined;
  try {
    [head] = [...new FrameDecoder().push(frame)] as Partial<Head>[];
  } catch {
    // Said below.
  }
  const { header, sizes } = head ?? {};
  const fits =
    Array.isArray(sizes) &&
    sizes.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (!fits) throw invalid(file, 'its header cannot be read');
  return { header, sizes };
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  let written = 0;
  while (written < piece.byteLength) {
    const rest = piece.subarray(written);
    written += (await handle.write(rest, 0, rest.byteLength)).bytesWritten;
  }
}

async function fill(
  handle: FileHandle,
  piece: Uint8Array,
  file: string,
): Promise<void> {
  let read = 0;
  while (read < piece.byteLength) {
    const left = piece.byteLength - read;
    const { bytesRead } = await handle.read(piece, read, left);
    if (bytesRead === 0) throw invalid(file, 'it is truncated');
    read += bytesRead;
  }
}

function* piecesOf(part: Uint8Array, pieceBytes: number): Iterable<Uint8Array> {
  for (let at = 0; at < part.byteLength; at += pieceBytes) {
    yield part.subarray(at, at + pieceBytes);
  }
}

function invalid(file: string, reason: string): GradwireError {
  return failure(
    'CHECKPOINT_INVALID',
    `${file} is not a complete checkpoint: ${reason}`,
    {
      next: 'It is ignored: the run resumes from the previous checkpoint, or from its start.',
    },
  );
}
