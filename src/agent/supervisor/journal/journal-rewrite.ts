/**
 * Rewrites a journal into a new file without some details of its older half. The journal may
 * grow meanwhile; new entries are copied last. Only one piece is held in memory at a time,
 * and other work runs between pieces.
 */
import {
  closeSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import {
  decodeBody,
  encodeFrame,
  FrameDecoder,
  frameOf,
  MAX_CONTROL_FRAME_BYTES,
} from '../../../shared/protocol/frame.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import { seeEntry, type SeenEntry } from './journal-frame.ts';
import { ThinningSurvey, type ThinningChoice } from './journal-thinning.ts';

const readPiece = promisify(read);
const writePiece = promisify(write);
const sync = promisify(fsync);

const PIECE_BYTES = 1 << 18;

/** The journal's bound, and the ranks that record in it. */
export interface JournalBound {
  readonly bytes: number;
  readonly ranks: readonly number[];
  /** Reports why it could not be written; it is retried. */
  readonly warn: (message: string) => void;
}

export class JournalRewrite {
  readonly #draft: string;
  readonly #source: number;
  readonly #target: number;
  /** The position in the journal that the draft covers. */
  #copied = 0;
  #written = 0;
  #cancelled = false;
  #kept = false;

  /** @throws errors of opening a file */
  constructor(file: string) {
    this.#draft = draftOf(file);
    this.#source = openSync(file, 'r');
    try {
      this.#target = openSync(this.#draft, 'w+', 0o600);
    } catch (error) {
      closeSync(this.#source);
      throw error;
    }
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** Bytes of the new journal so far. */
  get written(): number {
    return this.#written;
  }

  /**
   * Writes the kept entries of the older half, and the entry after it.
   * @param bytes of all current entries
   */
  async thin(bytes: number, bound: Omit<JournalBound, 'warn'>): Promise<void> {
    const survey = new ThinningSurvey(bound.ranks);
    let middle = 0;
    for await (const { entry, length, end } of this.#entries(bytes)) {
      // The last entry always lies behind, however long it is.
      if (middle >= bytes / 2 || end >= bytes) break;
      survey.note(entry, length);
      middle = end;
    }
    await this.#writeOlder(bytes, middle, survey.choose(bound.bytes), bound.bytes);
  }

  async #writeOlder(
    bytes: number,
    middle: number,
    choice: ThinningChoice,
    limitBytes: number,
  ): Promise<void> {
    let last = 0;
    let frames: Uint8Array[] = [];
    let waiting = 0;
    const thinned = { at: Date.now(), limitBytes, iterations: choice.iterations };
    for await (const { entry, body, length, end } of this.#entries(bytes)) {
      const isBehind = end > middle;
      if (!isBehind && !choice.keeps(entry.record, length)) continue;
      const { sequence, follows } = entry;
      const isAsBefore = last === (follows ?? sequence - 1) && !entry.thinned;
      const frame =
        isAsBefore && !isBehind
          ? frameOf(body)
          : encodeFrame({
              sequence,
              ...(sequence === last + 1 ? {} : { follows: last }),
              ...(isBehind ? { thinned } : {}),
              record: (decodeBody(body) as JournalEntry).record,
            } satisfies JournalEntry);
      last = sequence;
      frames.push(frame);
      waiting += frame.length;
      if (!isBehind && waiting < PIECE_BYTES) continue;
      await this.#write(Buffer.concat(frames));
      frames = [];
      waiting = 0;
      if (!isBehind) continue;
      this.#copied = end;
      return;
    }
  }

  /**
   * Copies the rest unchanged, except for the last piece. @param end the journal's
   * current end
   */
  async copy(end: () => number): Promise<void> {
    await this.#copyUpTo(end);
    if (this.#cancelled) return;
    await sync(this.#target);
    // Entries that came while the disk was busy.
    await this.#copyUpTo(end);
  }

  async #copyUpTo(end: () => number): Promise<void> {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    while (!this.#cancelled && end() - this.#copied > PIECE_BYTES) {
      const { bytesRead } = await readPiece(
        ...([this.#source, piece, 0, PIECE_BYTES, this.#copied] as const),
      );
      if (bytesRead === 0) throw new Error('the journal became shorter');
      await this.#write(piece.subarray(0, bytesRead));
      this.#copied += bytesRead;
    }
  }

  /**
   * Copies the rest without yielding to other work.
   * @returns its descriptor, which the caller now owns, and its path
   */
  finish(end: number): { readonly descriptor: number; readonly draft: string } {
    const rest = Buffer.allocUnsafe(end - this.#copied);
    let got = 0;
    while (got < rest.length) {
      const count = readSync(
        ...([this.#source, rest, got, rest.length - got, this.#copied + got] as const),
      );
      if (count === 0) throw new Error('the journal became shorter');
      got += count;
    }
    let put = 0;
    while (put < rest.length) {
      put += writeSync(
        ...([this.#target, rest, put, rest.length - put, this.#written + put] as const),
      );
    }
    fsyncSync(this.#target);
    this.#copied = end;
    this.#written += rest.length;
    this.#kept = true;
    return { descriptor: this.#target, draft: this.#draft };
  }

  /** Frees the draft's disk space at once; work in progress ends soon. */
  cancel(): void {
    if (this.#cancelled || this.#kept) return;
    this.#cancelled = true;
    ftruncateSync(this.#target, 0);
    rmSync(this.#draft, { force: true });
  }

  /** Resolves when no work is in progress. */
  close(): void {
    this.cancel();
    closeSync(this.#source);
    if (!this.#kept) closeSync(this.#target);
  }

  /** Entries from the journal's start, until cancelled. */
  async *#entries(bytes: number): AsyncGenerator<{
    readonly entry: SeenEntry;
    /** Bytes of the entry's frame, valid until the next one is requested. */
    readonly body: Uint8Array;
    readonly length: number;
    readonly end: number;
  }> {
    const decoder = new FrameDecoder(MAX_CONTROL_FRAME_BYTES, (body) => body);
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let position = 0;
    let begin = 0;
    while (position < bytes && !this.#cancelled) {
      const length = Math.min(PIECE_BYTES, bytes - position);
      const { bytesRead } = await readPiece(this.#source, piece, 0, length, position);
      if (bytesRead === 0) throw new Error('the journal became shorter');
      position += bytesRead;
      for (const body of decoder.push(piece.subarray(0, bytesRead))) {
        const end = decoder.decodedBytes;
        yield { entry: seeEntry(body), body, length: end - begin, end };
        begin = end;
      }
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let put = 0;
    while (put < bytes.length && !this.#cancelled) {
      const { bytesWritten } = await writePiece(
        ...([this.#target, bytes, put, bytes.length - put, this.#written] as const),
      );
      put += bytesWritten;
      this.#written += bytesWritten;
    }
  }
}

/** Removes the draft of a supervisor that died while it wrote. */
export function removeDraft(file: string): void {
  rmSync(draftOf(file), { force: true });
}

const draftOf = (file: string): string => `${file}.draft`;
