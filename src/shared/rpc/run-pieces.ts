/**
 * Pieces of a run, so that no answer to a page is large: its iteration records, bins, traces
 * and exports. Each names the place of the next.
 */
import { z } from 'zod';
import type { JournalEntry } from '../records/journal-entry.ts';
import type { TraceRecord } from '../records/trace.ts';

/** The place where a piece of iteration records begins. */
export interface IterationPlace {
  /** An iteration. */
  readonly from: number;
  /** The first rank of that iteration; default: 0. */
  readonly fromRank?: number | undefined;
}

/** Parts of an export, in their order. */
export const EXPORT_PARTS = [
  'events',
  'log',
  'buckets',
  'utilisation',
  'iterations',
] as const;

/** The place where a piece of an export begins. Made by main. */
export interface ExportPlace extends IterationPlace {
  readonly part: (typeof EXPORT_PARTS)[number];
  /** The end of the last record of buckets: `from` and `fromRank` are its first iteration and rank. */
  readonly last?: number | undefined;
  /** Nothing of the part has been written yet. */
  readonly isFirst: boolean;
}

/** A piece of an export. */
export interface ExportPiece {
  readonly text: string;
  /** The part of the file that ends with it, 0…1, about. */
  readonly done: number;
  /** The place of the next piece; undefined after the last one. */
  readonly next?: ExportPlace | undefined;
}

/**
 * Most iteration records of one answer: some 2 MB, and 50 ms of main's thread, during which it
 * does nothing else. Records of many ranks are larger, and an answer then has fewer.
 */
export const MOST_ITERATION_RECORDS = 2048;

/** A piece of the iteration records. */
export interface IterationsPiece {
  readonly entries: readonly JournalEntry[];
  /** The beginning of the next piece; undefined after the last one. */
  readonly next?: IterationPlace | undefined;
}

/** A request for the bins of a chart. */
export const binsQuerySchema = z.strictObject({
  from: z.int().min(0),
  /** Exclusive. */
  to: z.int().min(0),
  /** Iterations of a bin, a power of two. Bins begin at its multiples. */
  width: z
    .int()
    .min(1)
    .refine((width) => Number.isInteger(Math.log2(width)), 'must be a power of two'),
  /** Default: all ranks together. */
  rank: z.int().min(0).optional(),
});
export type BinsQuery = Readonly<z.infer<typeof binsQuerySchema>>;

/** Most bins of one answer: a megabyte. */
export const MOST_BINS = 2000;

/** A piece of the bins. */
export interface BinsPiece {
  /** The first iteration of each bin, ascending. Bins without a record are left out. */
  readonly starts: readonly number[];
  /** CELL_COUNT cells for each (`chart-cells.ts`); null: not finite, because nothing is in it. */
  readonly cells: readonly (number | null)[];
  /** The run's last record that is in them, or could be. */
  readonly lastSequence: number;
  /** The first iteration of the next piece; undefined after the last one. */
  readonly next?: number | undefined;
}

/** Consecutive iterations that were traced. */
export interface TracedStretch {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Records of all ranks. */
  readonly records: number;
}

/** The place where a piece of the traces begins, and where they end. */
export interface TracePlace extends IterationPlace {
  /** Exclusive. */
  readonly to: number;
}

/** A piece of the traces. */
export interface TracePiece {
  readonly records: readonly TraceRecord[];
  /** Begin of the next piece; undefined after the last one. */
  readonly next?: IterationPlace | undefined;
}
