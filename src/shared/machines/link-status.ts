/**
 * The links between machines: measured, failed, or skipped because a run was in progress.
 * One entry per direction; α is half the round trip.
 */
import { z } from 'zod';
import { isErrorData, type ErrorData } from '../errors/errors.ts';

/** A measurement of the data plane from one machine to another, as ranks would see it. */
export const linkMeasureSchema = z.strictObject({
  /** s per message. */
  alpha: z.number().min(0).lt(1e6),
  /** s per byte. */
  beta: z.number().min(0).lt(1e6),
  /** Wall-clock milliseconds since 1970. */
  measuredAt: z.number(),
  /** The address on which either end listened. */
  addresses: z.strictObject({ from: z.string(), to: z.string() }),
  transport: z.string(),
  encrypted: z.boolean(),
});
export type LinkMeasure = z.infer<typeof linkMeasureSchema>;

export const linkFailureSchema = z.strictObject({
  at: z.number(),
  error: z.custom<ErrorData>(isErrorData),
});
type LinkFailure = z.infer<typeof linkFailureSchema>;

export interface LinkStatus {
  readonly from: string;
  readonly to: string;
  /** The last successful measurement. */
  readonly measure?: LinkMeasure | undefined;
  /** The error of the last attempt, if it failed. */
  readonly failure?: LinkFailure | undefined;
}

/** The outcome of measuring one pair of machines. */
export interface PairOutcome {
  readonly nodes: readonly [string, string];
  readonly links: readonly [LinkStatus, LinkStatus];
  /** Runs in progress on either machine; the pair is then measured only on request. */
  readonly runs: readonly BusyRun[];
}

export interface BusyRun {
  readonly node: string;
  readonly run: string;
}

/** A measurement under way, as the app shows it. */
export interface LinkCheckProgress {
  readonly done: number;
  readonly pairs: number;
  /** The pair being measured. */
  readonly nodes?: readonly [string, string] | undefined;
}

/** Measures of the messages between the ranks of one machine, all of them sending at once. */
export interface WithinStatus {
  readonly node: string;
  readonly ranks: number;
  /** s per message. */
  readonly alpha: number;
  /** s per byte. */
  readonly beta: number;
  /** Wall-clock milliseconds since 1970. */
  readonly measuredAt: number;
  readonly transport: string;
}

/** Everything about links that the Cluster page shows. */
export interface NetworkStatus {
  readonly links: readonly LinkStatus[];
  /** Measures of the machines that have some. */
  readonly within: readonly WithinStatus[];
  /** The progress of a measurement; undefined if none is under way. */
  readonly progress?: LinkCheckProgress | undefined;
  /** Pairs that the last measurement skipped, and why. */
  readonly passedOver: readonly PairOutcome[];
}

/** Bits per second of messages. */
export const bitsPerSecond = ({ beta }: Pick<LinkMeasure, 'beta'>): number => 8 / beta;
