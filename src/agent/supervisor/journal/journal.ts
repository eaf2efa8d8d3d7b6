/**
 * A run's journal: every record with its sequence number, appended to one file before
 * it is passed on. Frames of MessagePack (`shared/protocol/frame.ts`); a frame cut
 * short by a crash is the end of the journal. Reading may continue while it grows. What is
 * passed on has been synchronised to the disk (`runs/run-journal.ts`).
 *
 * When a journal reaches its bound, details of its older half are left out: it is rewritten
 * to a new file, which replaces the old one. Entries then state what they follow, and
 * readers continue in the new file.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory } from '../../../disk/durable-replacement.ts';
import { toErrorData } from '../../../shared/errors/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../shared/protocol/frame.ts';
import {
  endsJournal,
  type JournalEnding,
  type JournalEntry,
} from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { journalWriteFailed } from './journal-write-error.ts';
import { recoverEntries } from './journal-recovery.ts';
import { JournalRewrite, removeDraft, type JournalBound } from './journal-rewrite.ts';

const syncData = promisify(fdatasync);

/** Bytes read at once. */
const READ_BYTES = 1 << 18;
/**
 * Share of the bound that thinning must save, or that a journal must grow by, before the
 * next attempt.
 */
const WORTH_IT = 1 / 16;

export class Journal {
  readonly file: string;
  readonly #node: string | undefined;
  #descriptor: number | undefined;
  #lastSequence = 0;
  #bytes = 0;
  /** Entries that could not be written; readers still get them, last. */
  #unwritten: JournalEntry[] = [];

  #durableSequence = 0;
  #lastRecord: RunRecord | undefined;
  #damage: string | undefined;
  #bound: JournalBound | undefined;
  /** Size in bytes at which it is thinned. */
  #thinAt = Infinity;
  #rewrite: JournalRewrite | undefined;
  /** Number of times that the file has been replaced. */
  #generation = 0;

  /**
   * A new, empty journal.
   * @param node the machine's name, if it is not the user's own computer: errors name it
   * @throws GradwireError `JOURNAL_WRITE_FAILED`
   */
  static create(file: string, node?: string): Journal {
    return new Journal(file, 'wx', node);
  }

  /** Sets the size at which it is thinned. */
  bound(bound: JournalBound): void {
    this.#bound = bound;
    this.#thinAt = bound.bytes;
  }

  /**
   * Reopens the journal of a dead supervisor with all its complete entries. A frame cut
   * short by a crash is removed, so that the next entry follows the last complete one.
   * Entries before a damaged place are available; the rest stays in the file (`damage`).
   * @param each called with every record, in order
   * @param node as for `create`
   * @throws GradwireError if not even the first entry can be read
   */
  static reopen(
    file: string,
    each?: (record: RunRecord) => void,
    node?: string,
  ): Journal {
    const journal = new Journal(file, 'r+', node);
    removeDraft(file);
    try {
      journal.#readEntries(each);
    } catch (error) {
      if (journal.#lastSequence === 0) {
        journal.close();
        throw error;
      }
      journal.#damage = toErrorData(error).message;
    }
    // The last supervisor may have died before the disk had everything.
    journal.flush();
    return journal;
  }

  /** Indexes the entries in the file. */
  #readEntries(each?: (record: RunRecord) => void): void {
    recoverEntries(this.#descriptor!, ({ record, sequence }, bytes) => {
      this.#bytes = bytes;
      this.#lastSequence = sequence;
      this.#lastRecord = record;
      each?.(record);
    });
    ftruncateSync(this.#descriptor!, this.#bytes);
  }

  private constructor(file: string, flags: 'wx' | 'r+', node: string | undefined) {
    this.file = file;
    this.#node = node;
    try {
      this.#descriptor = openSync(file, flags, 0o600);
    } catch (cause) {
      throw this.#writeError(cause);
    }
  }

  /** Reason that data after the last entry cannot be read, if there is any. */
  get damage(): string | undefined {
    return this.#damage;
  }

  get lastRecord(): RunRecord | undefined {
    return this.#lastRecord;
  }

  /** The closing record, once there is one. */
  get ending(): JournalEnding | undefined {
    const last = this.#lastRecord;
    return last !== undefined && endsJournal(last) ? last : undefined;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Sequence of the last entry safe from a power cut; what the disk refuses counts as safe. */
  get durableSequence(): number {
    return this.#durableSequence;
  }

  /**
   * Resolves when the disk has all entries so far.
   * @throws GradwireError (rejects) `JOURNAL_WRITE_FAILED`
   */
  async sync(): Promise<void> {
    const last = this.#lastSequence;
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    try {
      await syncData(descriptor);
    } catch (cause) {
      // One that was closed meanwhile has been synchronised.
      if (this.#descriptor === descriptor) throw this.#writeError(cause);
    }
    this.#durableSequence = Math.max(this.#durableSequence, last);
  }

  /** Asks the disk to keep all entries so far, and waits. What it refuses counts as kept. */
  flush(): void {
    this.#durableSequence = this.#lastSequence;
    if (this.#descriptor === undefined) return;
    try {
      fdatasyncSync(this.#descriptor);
    } catch {
      // There is no other place for them.
    }
  }

  /**
   * Append records in one write.
   * @returns the entries with their sequences
   * @throws GradwireError `JOURNAL_WRITE_FAILED`: nothing of this call is journalled
   */
  append(records: readonly RunRecord[]): readonly JournalEntry[] {
    if (this.#descriptor === undefined) throw new Error('internal: journal is closed');
    if (this.#damage !== undefined) throw new Error('internal: journal is damaged');
    const entries = records.map((record, index) => ({
      sequence: this.#lastSequence + 1 + index,
      record,
    }));
    const bytes = Buffer.concat(entries.map((entry) => encodeFrame(entry)));
    try {
      this.#write(bytes);
    } catch (cause) {
      this.#discardPartial();
      if (this.#rewrite === undefined) throw this.#writeError(cause);
      // The draft may be what fills the disk.
      this.#rewrite.cancel();
      this.#writeAgain(bytes);
    }
    this.#bytes += bytes.length;
    this.#lastSequence += entries.length;
    this.#lastRecord = records.at(-1) ?? this.#lastRecord;
    this.#thinWhereDue();
    return entries;
  }

  #write(bytes: Uint8Array): void {
    let written = 0;
    // A full disk may accept part of a write.
    while (written < bytes.length) {
      written += writeSync(
        this.#descriptor!,
        bytes,
        written,
        bytes.length - written,
        this.#bytes + written,
      );
    }
  }

  #writeAgain(bytes: Uint8Array): void {
    try {
      this.#write(bytes);
    } catch (cause) {
      this.#discardPartial();
      throw this.#writeError(cause);
    }
  }

  /** Keeps the closing record of a run whose disk is full. */
  appendUnwritten(record: RunRecord): JournalEntry {
    const entry = { sequence: ++this.#lastSequence, record };
    this.#unwritten.push(entry);
    this.#lastRecord = record;
    this.#durableSequence = entry.sequence;
    return entry;
  }

  /**
   * Everything after a sequence, until the reader has caught up: each entry once, or a
   * later one that states what it follows.
   * @param to the last one to give; default: what is the newest at the time
   */
  async *readAfter(
    after: number,
    to = Infinity,
  ): AsyncGenerator<readonly JournalEntry[]> {
    let last = after;
    let generation = this.#generation;
    let position = 0;
    let decoder = new FrameDecoder();
    while (last < Math.min(to, this.#lastSequence)) {
      if (generation !== this.#generation) {
        generation = this.#generation;
        position = 0;
        decoder = new FrameDecoder();
      }
      let entries: readonly JournalEntry[] = this.#unwritten;
      if (position < this.#bytes) {
        const piece = await this.#readPiece(position);
        // The read may come from the file that replaced the intended one.
        if (generation !== this.#generation) continue;
        if (piece.length === 0) throw new Error(`internal: ${this.file} has ended`);
        position += piece.length;
        entries = [...decoder.push(piece)] as JournalEntry[];
      } else if (last >= (entries.at(-1)?.sequence ?? 0)) {
        throw new Error(`internal: journal ends at ${last}`);
      }
      const newer = entries.filter(({ sequence }) => sequence > last);
      const fresh = newer.filter(({ sequence }) => sequence <= to);
      if (fresh.length > 0) {
        last = fresh.at(-1)!.sequence;
        yield fresh;
      }
      if (fresh.length < newer.length) return;
    }
  }

  /** The file's current contents there; nothing is kept open between two pieces. */
  async #readPiece(position: number): Promise<Uint8Array> {
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, this.#bytes - position));
    await using handle = await open(this.file, 'r');
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    return piece.subarray(0, bytesRead);
  }

  #thinWhereDue(): void {
    const bound = this.#bound;
    if (bound === undefined || this.#rewrite !== undefined) return;
    if (this.#bytes < this.#thinAt) return;
    this.#thinAt = this.#bytes + bound.bytes * WORTH_IT;
    void this.#thin(bound);
  }

  /** Thins the file. If that fails, the journal stays unchanged. */
  async #thin(bound: JournalBound): Promise<void> {
    try {
      this.#rewrite = new JournalRewrite(this.file);
      await this.#rewrite.thin(this.#bytes, bound);
      await this.#rewrite.copy(() => this.#bytes);
      if (!this.#rewrite.cancelled) this.#takeOver(this.#rewrite, bound);
    } catch (error) {
      bound.warn(`cannot thin ${this.file}: ${String(error)}`);
    } finally {
      this.#rewrite?.close();
      this.#rewrite = undefined;
    }
  }

  /** Takes over the new file; nothing is appended in between. */
  #takeOver(rewrite: JournalRewrite, bound: JournalBound): void {
    const { descriptor, draft } = rewrite.finish(this.#bytes);
    try {
      renameSync(draft, this.file);
    } catch (error) {
      closeSync(descriptor);
      removeDraft(this.file);
      throw error;
    }
    closeSync(this.#descriptor!);
    this.#descriptor = descriptor;
    syncDirectory(path.dirname(this.file));
    this.#durableSequence = this.#lastSequence;
    const saved = this.#bytes - rewrite.written;
    this.#bytes = rewrite.written;
    this.#generation++;
    // A journal without details cannot be thinned; do not retry with every record.
    const least = bound.bytes * WORTH_IT;
    this.#thinAt = saved < least ? this.#bytes + 4 * least : bound.bytes;
  }

  close(): void {
    this.#rewrite?.cancel();
    if (this.#descriptor === undefined) return;
    try {
      fsyncSync(this.#descriptor);
      this.#durableSequence = this.#lastSequence;
    } finally {
      closeSync(this.#descriptor);
      this.#descriptor = undefined;
    }
  }

  /**
   * Removes what a failed write left after the last entry; otherwise a shorter later
   * write would be followed by its rest.
   */
  #discardPartial(): void {
    try {
      ftruncateSync(this.#descriptor!, this.#bytes);
    } catch (cause) {
      throw this.#writeError(cause);
    }
  }

  #writeError(cause: unknown): Error {
    return journalWriteFailed(this.file, cause, this.#node);
  }
}
