/**
 * A run's journal: every record with its sequence number, appended to one file before
 * anyone is told of it. Frames of MessagePack (`shared/protocol/frame.ts`); a frame cut
 * short by a crash is the end of the journal. Reading may go on while it grows.
 */
import {
  closeSync,
  createReadStream,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { failure, toErrorData } from '../../shared/errors.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import type { JournalEntry, RunRecord } from '../../shared/records.ts';

/** Bytes that are read at once where a journal is reopened. */
const READ_BYTES = 1 << 18;

export class Journal {
  readonly file: string;
  #descriptor: number | undefined;
  #lastSequence = 0;
  #bytes = 0;
  /** Entries that could not be written: readers still get them, last. */
  #unwritten: JournalEntry[] = [];

  #lastRecord: RunRecord | undefined;
  #damage: string | undefined;

  /** A new, empty journal. @throws GradwireError `JOURNAL_WRITE_FAILED` */
  static create(file: string): Journal {
    return new Journal(file, 'wx');
  }

  /**
   * The journal of a supervisor that is gone, all whole entries of it; what a crash cut
   * short is removed, so that the next entry follows the last whole one. Entries up to a
   * damage are there, and what follows it stays in the file (`damage`).
   * @param each told of every record there is, in order
   * @throws GradwireError where not even the first entry can be read
   */
  static reopen(file: string, each?: (record: RunRecord) => void): Journal {
    const journal = new Journal(file, 'r+');
    try {
      journal.#readEntries(each);
    } catch (error) {
      if (journal.#lastSequence === 0) {
        journal.close();
        throw error;
      }
      journal.#damage = toErrorData(error).message;
    }
    return journal;
  }

  /** Takes note of the entries in the file, a piece of it at a time. */
  #readEntries(each?: (record: RunRecord) => void): void {
    const decoder = new FrameDecoder();
    const piece = Buffer.allocUnsafe(READ_BYTES);
    let position = 0;
    for (;;) {
      const count = readSync(this.#descriptor!, piece, 0, READ_BYTES, position);
      if (count === 0) break;
      position += count;
      for (const entry of decoder.push(piece.subarray(0, count))) {
        if (!isEntry(entry) || entry.sequence !== this.#lastSequence + 1) {
          throw failure(
            'JOURNAL_DAMAGED',
            `what follows record ${this.#lastSequence} is no record`,
          );
        }
        this.#bytes = decoder.decodedBytes;
        this.#lastSequence = entry.sequence;
        this.#lastRecord = entry.record;
        each?.(entry.record);
      }
    }
    ftruncateSync(this.#descriptor!, this.#bytes);
  }

  private constructor(file: string, flags: 'wx' | 'r+') {
    this.file = file;
    try {
      this.#descriptor = openSync(file, flags, 0o600);
    } catch (cause) {
      throw this.#writeError(cause);
    }
  }

  /** Why nothing after the last entry can be read, where there is more in the file. */
  get damage(): string | undefined {
    return this.#damage;
  }

  get lastRecord(): RunRecord | undefined {
    return this.#lastRecord;
  }

  get lastSequence(): number {
    return this.#lastSequence;
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
    let written = 0;
    try {
      // A disk that fills up may take a part of a write.
      while (written < bytes.length) {
        written += writeSync(
          this.#descriptor,
          bytes,
          written,
          bytes.length - written,
          this.#bytes + written,
        );
      }
    } catch (cause) {
      this.#discardPartial();
      throw this.#writeError(cause);
    }
    this.#bytes += bytes.length;
    this.#lastSequence += entries.length;
    this.#lastRecord = records.at(-1) ?? this.#lastRecord;
    return entries;
  }

  /** Keep the closing record of a run whose disk takes no more. */
  appendUnwritten(record: RunRecord): JournalEntry {
    const entry = { sequence: ++this.#lastSequence, record };
    this.#unwritten.push(entry);
    return entry;
  }

  /** Everything after a sequence, up to what is there when the reader catches up. */
  async *readAfter(after: number): AsyncGenerator<readonly JournalEntry[]> {
    let last = after;
    let position = 0;
    const decoder = new FrameDecoder();
    while (last < this.#lastSequence) {
      if (position < this.#bytes) {
        const stream = createReadStream(this.file, {
          start: position,
          end: this.#bytes - 1,
          highWaterMark: 1 << 18,
        });
        for await (const chunk of stream) {
          position += (chunk as Buffer).length;
          const entries = [...decoder.push(chunk as Buffer)] as JournalEntry[];
          const fresh = entries.filter(({ sequence }) => sequence > last);
          if (fresh.length === 0) continue;
          last = fresh.at(-1)!.sequence;
          yield fresh;
        }
      } else {
        const fresh = this.#unwritten.filter(({ sequence }) => sequence > last);
        if (fresh.length === 0) throw new Error(`internal: journal ends at ${last}`);
        last = fresh.at(-1)!.sequence;
        yield fresh;
      }
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    try {
      fsyncSync(this.#descriptor);
    } finally {
      closeSync(this.#descriptor);
      this.#descriptor = undefined;
    }
  }

  /**
   * Remove what a failed write left behind the last entry: a shorter one that is written
   * there later would be followed by the rest of it.
   */
  #discardPartial(): void {
    try {
      ftruncateSync(this.#descriptor!, this.#bytes);
    } catch (cause) {
      throw this.#writeError(cause);
    }
  }

  #writeError(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return failure('JOURNAL_WRITE_FAILED', `cannot write ${this.file}: ${reason}`, {
      next: 'Free space on that disk or set GRADWIRE_HOME to another one.',
    });
  }
}

/** Whether it has the shape of an entry; what its record is worth is for the store to say. */
function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { sequence, record } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(sequence) && typeof record === 'object' && record !== null
  );
}
