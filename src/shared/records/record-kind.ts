/**
 * A kind of record is one definition: its schema, and all that programs do with its records.
 * `record-kinds.ts` lists the kinds. A member cannot be left out, so that no program has a
 * default for a kind that it does not know.
 */
import type { z } from 'zod';
import type { ErrorData } from '../errors/errors.ts';
import type { MetricKind } from './metric.ts';
import type { Column } from './table-column.ts';

export type RecordSchema = z.ZodType<{ type: string; at: number }>;

/**
 * The way to recognise a repetition. Ranks that resume from a checkpoint report the iterations
 * after it again; the first record of each stays.
 *
 * - `never`: the record is not repeated.
 * - `rank and iteration`: there is one per rank and iteration, in order.
 * - `iteration`: there is at most one per iteration, in order.
 * - `named`: by what the name says. `untilNew`: once the repeated iterations are over, a
 *   record with the same name is new.
 */
type Repetition<R> =
  | { readonly by: 'never' }
  | (R extends { rank: number; iteration: number }
      ? { readonly by: 'rank and iteration' }
      : never)
  | (R extends { iteration: number } ? { readonly by: 'iteration' } : never)
  | {
      readonly by: 'name';
      readonly name: (record: R) => string;
      readonly untilNew: boolean;
    };

/**
 * The fate of records in the older half of a journal that has reached its bound:
 * of `iterations` every n-th stays, of `lines` the newest of each rank, of `measures` every
 * m-th of their kind, and `history` stays whole.
 */
export type Thinning = 'iterations' | 'lines' | 'measures' | 'history';

/** The facts of a run that lines of `gradwire run` depend on. */
interface PrintedRun {
  /** The run's machines, as its spec names them. */
  readonly nodes: readonly string[];
  /** Whether a start has been printed. */
  readonly hasStarted: boolean;
  /** Whether its ranks run a program of the user's. */
  readonly isProgram: boolean;
}

/** A table of exports that has a kind's records. */
interface RecordTable<R, T extends string> {
  readonly id: T;
  readonly title: string;
  /**
   * Columns of a table with a row for each record. `parts`: its rows are made of several records
   * or of parts of one, in a file of `export/tables`.
   */
  readonly columns: readonly Column<R>[] | 'parts';
}

export interface RecordKind<
  S extends RecordSchema = RecordSchema,
  T extends string = string,
> {
  readonly schema: S;
  readonly repetition: Repetition<z.infer<S>>;
  readonly thinning: Thinning;
  /** Lines of `gradwire run`; empty if it prints nothing. */
  readonly printed: (record: z.infer<S>, run: PrintedRun) => readonly string[];
  /** The tables that exports have of its records, besides that of all events. */
  readonly tables: readonly RecordTable<z.infer<S>, T>[];
}

export interface EventText {
  readonly tone: 'plain' | 'switch' | 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
  /** The iteration it belongs to, if any. */
  readonly iteration?: number;
}

/** Names of ranks and machines in texts. */
export interface EventNames {
  readonly rank: (rank: number) => string;
  /**
   * Returns the name of a machine. Without it, texts name machines as records do, and none
   * where one has all ranks.
   */
  readonly machine: ((node: string) => string) | undefined;
}

/** The changes that an event makes in its run's summary. */
interface SummaryChange {
  /** The ranks train. Its metric; null: the accuracy. */
  readonly running?: { readonly metricKind: MetricKind | null };
  /** The newest metric of the test set. */
  readonly metric?: number;
  /** A method that the run uses from here on. */
  readonly method?: string;
  /** An alert that was raised or is over. */
  readonly alert?: {
    readonly rule: string;
    readonly title: string;
    readonly phase: 'over' | 'raised';
  };
  readonly end?: {
    readonly state: 'completed' | 'stopped' | 'failed';
    readonly at: number;
    readonly metric?: number | undefined;
    readonly error?: ErrorData;
  };
}

/** A kind whose records are in the run's list of events: all but iterations and printed lines. */
export interface EventKind<
  S extends RecordSchema = RecordSchema,
  T extends string = string,
> extends RecordKind<S, T> {
  /**
   * Whether the newest of consecutive measurements represents the earlier ones of its kind in
   * the list of events.
   */
  readonly folds: boolean;
  readonly text: (record: z.infer<S>, names: EventNames) => EventText;
  /** The record's change of the run's summary; undefined if it changes nothing. */
  readonly summary: (record: z.infer<S>) => SummaryChange | undefined;
}

/** Checks a definition's types; returns it as it is. */
export const recordKind = <S extends RecordSchema, T extends string = never>(
  kind: RecordKind<S, T>,
): RecordKind<S, T> => kind;

/** Checks a definition's types; returns it as it is. */
export const eventKind = <S extends RecordSchema, T extends string = never>(
  kind: EventKind<S, T>,
): EventKind<S, T> => kind;

/** Prints nothing: for kinds that `gradwire run` leaves out. */
export const unprinted = (): readonly string[] => [];

/** No tables: for kinds whose records are in that of all events, or in none. */
export const NO_TABLES = [] as const;

/** Changes nothing: for kinds that leave the summary as it is. */
export const unchanged = (): undefined => undefined;

/** The repetition of records that a run has once. */
export const NEVER_REPEATED = { by: 'never' } as const;
