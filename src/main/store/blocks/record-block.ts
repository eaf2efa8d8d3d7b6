/**
 * A block: some iteration records of a run with their sequences, in a seventh of the bytes of
 * their JSON or less. Columns (`value-column.ts`), compressed with deflate, which every Node
 * and Electron has; zstd makes them no smaller, because what is left is noise of clocks.
 *
 *   version (1) · CRC-32 of what follows unpacked · deflate of
 *     { u32 length · JSON of count and shape · columns of sequences and records }
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import {
  decodeColumn,
  encodeColumn,
  type ColumnShape,
  type ReadColumn,
} from './value-column.ts';

const VERSION = 1;
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;

export interface IterationEntry {
  readonly sequence: number;
  readonly record: IterationRecord;
}

interface BlockHead {
  readonly count: number;
  readonly sequences: ColumnShape;
  /** Again what records hold, so that rows are found without making records. */
  readonly iterations: ColumnShape;
  readonly ranks: ColumnShape;
  readonly records: ColumnShape;
}

export function encodeBlock(entries: readonly IterationEntry[]): Uint8Array {
  // A rank's values resemble each other.
  const sorted = entries.toSorted(
    ({ record: a }, { record: b }) => a.rank - b.rank || a.iteration - b.iteration,
  );
  const parts: Uint8Array[] = [];
  const column = (of: (entry: IterationEntry) => unknown): ColumnShape =>
    encodeColumn(sorted.map(of), parts);
  const head: BlockHead = {
    count: sorted.length,
    sequences: column(({ sequence }) => sequence),
    iterations: column(({ record }) => record.iteration),
    ranks: column(({ record }) => record.rank),
    records: column(({ record }) => record),
  };
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  const body = Buffer.concat([length, json, ...parts]);
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt8(VERSION);
  start.writeUInt32LE(crc32(body), 1);
  return Buffer.concat([start, deflateRawSync(body)]);
}

/** A decoded block. Its rows are sorted by rank and iteration; records are made when read. */
export class RecordBlock {
  readonly sequences: Float64Array;
  readonly iterations: Float64Array;
  readonly ranks: Float64Array;
  readonly #record: ReadColumn;
  #bySequence: Uint32Array | undefined;

  /** @throws Error if the bytes are damaged */
  constructor(content: Uint8Array) {
    const packed = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (packed.readUInt8() !== VERSION) throw new Error('unknown version of a block');
    const body = inflateRawSync(packed.subarray(HEAD_BYTES));
    if (crc32(body) !== packed.readUInt32LE(1)) {
      throw new Error('a block does not match its checksum');
    }
    let at = LENGTH_BYTES + body.readUInt32LE();
    const head = JSON.parse(body.toString('utf8', LENGTH_BYTES, at)) as BlockHead;
    const take = (bytes: number): Uint8Array => body.subarray(at, (at += bytes));
    const numbers = (shape: ColumnShape): Float64Array => {
      const read = decodeColumn(shape, head.count, take);
      return Float64Array.from({ length: head.count }, (_, row) => read(row) as number);
    };
    this.sequences = numbers(head.sequences);
    this.iterations = numbers(head.iterations);
    this.ranks = numbers(head.ranks);
    this.#record = decodeColumn(head.records, head.count, take);
  }

  get length(): number {
    return this.sequences.length;
  }

  entry(row: number): IterationEntry {
    const record = this.#record(row) as IterationRecord;
    return { sequence: this.sequences[row]!, record };
  }

  /** Rows in the order of their sequences. */
  get bySequence(): Uint32Array {
    this.#bySequence ??= Uint32Array.from(this.sequences.keys()).sort(
      (a, b) => this.sequences[a]! - this.sequences[b]!,
    );
    return this.#bySequence;
  }
}
