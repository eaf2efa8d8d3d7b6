/**
 * A block: some iteration records of a run with their sequences, in a seventh of the bytes of
 * their JSON or less: columns (`value-column.ts`) of sequences and records, packed
 * (`packed-columns.ts`).
 */
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { packColumns, unpackColumns } from './packed-columns.ts';
import {
  decodeColumn,
  encodeColumn,
  type ColumnShape,
  type ReadColumn,
} from './value-column.ts';

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
  return packColumns(head, parts);
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
    const { head: read, take } = unpackColumns(content);
    const head = read as BlockHead;
    const numbers = (shape: ColumnShape): Float64Array => {
      const at = decodeColumn(shape, head.count, take);
      return Float64Array.from({ length: head.count }, (_, row) => at(row) as number);
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
