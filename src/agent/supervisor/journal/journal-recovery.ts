/** The entries of a journal that a supervisor left, and where they end. */
import { readSync } from 'node:fs';
import { failure } from '../../../shared/errors/errors.ts';
import { decodeBody, FrameDecoder } from '../../../shared/protocol/frame.ts';
import {
  leftOutBefore,
  type JournalEntry,
} from '../../../shared/records/journal-entry.ts';

/** Bytes read at once. */
const READ_BYTES = 1 << 18;

/**
 * Reads entry after entry. A crash may have cut the last frame short, and a power cut may leave
 * nothing but zeros: that is the end. A frame that seems to be cut although others follow has a
 * damaged length.
 * @param noted called with each entry and the bytes up to its end
 * @throws GradwireError `JOURNAL_DAMAGED`, `FRAME_INVALID`, `FRAME_TOO_LARGE`: after what was noted
 */
export function recoverEntries(
  descriptor: number,
  noted: (entry: JournalEntry, bytes: number) => void,
): void {
  const decoder = new FrameDecoder();
  let last = 0;
  try {
    for (const piece of piecesFrom(descriptor, 0)) {
      for (const entry of decoder.push(piece)) {
        if (!isEntry(entry) || leftOutBefore(entry, last) === undefined) {
          throw damaged(`the data after record ${last} is not a record`);
        }
        last = entry.sequence;
        noted(entry, decoder.decodedBytes);
      }
    }
  } catch (error) {
    if (isBlankFrom(descriptor, decoder.decodedBytes)) return;
    throw error;
  }
  if (decoder.pendingBytes === 0) return;
  // No longer than a frame may be.
  const rest = Buffer.concat([...piecesFrom(descriptor, decoder.decodedBytes)]);
  const behind = entriesWithin(rest, last);
  if (behind.length === 0) return;
  throw damaged(
    `the frame after record ${last} has a damaged length, so ` +
      `${behind.length === 1 ? 'record' : 'records'} ${spanOf(behind)} behind it cannot be used`,
  );
}

const damaged = (message: string): Error => failure('JOURNAL_DAMAGED', message);

/** Copies, so that they may be kept. */
function* piecesFrom(descriptor: number, start: number): Generator<Buffer> {
  for (let position = start; ;) {
    const piece = Buffer.allocUnsafe(READ_BYTES);
    const count = readSync(descriptor, piece, 0, READ_BYTES, position);
    if (count === 0) return;
    position += count;
    yield piece.subarray(0, count);
  }
}

function isBlankFrom(descriptor: number, start: number): boolean {
  for (const piece of piecesFrom(descriptor, start)) {
    if (piece.some((byte) => byte !== 0)) return false;
  }
  return true;
}

/** The first key of every entry's body, after the head of a map in one byte or three. */
const SEQUENCE = Buffer.from('\u00a8sequence', 'latin1');

const MAP_HEADS = [1, 3] as const;
const LENGTH_BYTES = 4;

/** The sequences of the whole frames within bytes that begin with an unreadable frame. */
function entriesWithin(bytes: Buffer, last: number): readonly number[] {
  const found: number[] = [];
  const first = LENGTH_BYTES + MAP_HEADS[1];
  for (let at = bytes.indexOf(SEQUENCE, first + 1); at >= 0;) {
    for (const head of MAP_HEADS) {
      const sequence = sequenceAt(bytes, at - head);
      if (sequence !== undefined && sequence > (found.at(-1) ?? last)) {
        found.push(sequence);
      }
    }
    at = bytes.indexOf(SEQUENCE, at + 1);
  }
  return found;
}

/** Returns the sequence of the entry whose body begins at `start`, if one does. */
function sequenceAt(bytes: Buffer, start: number): number | undefined {
  const length = bytes.readUInt32LE(start - LENGTH_BYTES);
  const body = bytes.subarray(start, start + length);
  if (body.length < length) return undefined;
  try {
    const entry = decodeBody(body);
    return isEntry(entry) && Number.isSafeInteger(entry.sequence)
      ? entry.sequence
      : undefined;
  } catch {
    // Bytes that only look like the beginning of one.
    return undefined;
  }
}

const spanOf = (sequences: readonly number[]): string =>
  sequences.length === 1 ? `${sequences[0]!}` : `${sequences[0]!}–${sequences.at(-1)!}`;

/** Whether it has the shape of an entry; the store checks its record. */
function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { sequence, record } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(sequence) && typeof record === 'object' && record !== null
  );
}
