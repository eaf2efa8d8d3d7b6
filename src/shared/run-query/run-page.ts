/** A page of a list of runs: what is asked, and how it is answered. */
import { z } from 'zod';
import { LONGEST_FILTER } from './run-filter.ts';

/** Most rows of a page. */
export const MOST_ROWS = 200;
/** Most columns besides those of a summary. */
const MOST_COLUMNS = 16;
/** Most ids in one answer or order. */
export const MOST_IDS = 5000;

const key = z.string().min(1).max(200);

/** The runs of a list. */
export const runMatchSchema = z.strictObject({
  /** A filter in one line (`run-filter.ts`); default: all. */
  filter: z.string().max(LONGEST_FILTER).optional(),
  /** True: only deleted runs. Otherwise only the others. */
  deleted: z.boolean().optional(),
});
export type RunMatch = Readonly<z.infer<typeof runMatchSchema>>;

export const runPageQuerySchema = runMatchSchema.extend({
  /** A key, with `-` before it descending; default: newest first. */
  order: key.optional(),
  /** A key; runs with the same value come together. */
  group: key.optional(),
  /** Keys of specs whose values are shown. */
  columns: z.array(key).max(MOST_COLUMNS).optional(),
  limit: z.int().min(1).max(MOST_ROWS).optional(),
  offset: z.int().min(0).optional(),
});
export type RunPageQuery = Readonly<z.infer<typeof runPageQuerySchema>>;

/** A value in a column. */
export type CellValue = number | string | null;

export interface RunPageRow<Summary> {
  readonly run: Summary;
  /** Values of the asked columns, in their order. */
  readonly values: readonly CellValue[];
  /** The value by which runs are grouped, and how many runs have it. */
  readonly group?: { readonly value: CellValue; readonly runs: number } | undefined;
}

export interface RunPage<Summary> {
  readonly rows: readonly RunPageRow<Summary>[];
  /** Number of runs that match, and the space of their records. */
  readonly total: number;
  readonly bytes: number;
}

/** Words that filters can be completed with. */
export interface RunVocabulary {
  readonly specKeys: readonly string[];
  /** Values by key of the list. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}
