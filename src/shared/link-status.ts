/**
 * What is known of the links between machines: measured, failed, or passed over because a
 * run goes on. One for each direction; α is that of the round trip, halved.
 */
import { z } from 'zod';
import { isErrorData, type ErrorData } from './errors.ts';

/** Of the data plane from one machine to another, as ranks would meet it. */
export const linkMeasureSchema = z.strictObject({
  /** s per message. */
  alpha: z.number().min(0).lt(1e6),
  /** s per byte. */
  beta: z.number().min(0).lt(1e6),
  /** Wall-clock milliseconds since 1970. */
  measuredAt: z.number(),
  /** Where either end listened. */
  addresses: z.strictObject({ from: z.string(), to: z.string() }),
  transport: z.string(),
  encrypted: z.boolean(),
});
export type LinkMeasure = z.infer<typeof linkMeasureSchema>;

export const linkFailureSchema = z.strictObject({
  at: z.number(),
  error: z.custom<ErrorData>(isErrorData),
});
export type LinkFailure = z.infer<typeof linkFailureSchema>;

export interface LinkStatus {
  readonly from: string;
  readonly to: string;
  /** The last one that succeeded. */
  readonly measure?: LinkMeasure | undefined;
  /** Of the last attempt, where it failed. */
  readonly failure?: LinkFailure | undefined;
}

/** What came of measuring one pair of machines now. */
export interface PairOutcome {
  readonly nodes: readonly [string, string];
  readonly links: readonly [LinkStatus, LinkStatus];
  /** Runs that went on at either machine: without being asked nothing is measured then. */
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
  /** The pair that is measured now. */
  readonly nodes?: readonly [string, string] | undefined;
}

/** Everything about links that the Cluster page shows. */
export interface NetworkStatus {
  readonly links: readonly LinkStatus[];
  /** Undefined where nothing is measured now. */
  readonly progress?: LinkCheckProgress | undefined;
  /** Pairs that the last measurement passed over, and why. */
  readonly passedOver: readonly PairOutcome[];
}

/** Bits per second of messages. */
export const bitsPerSecond = ({ beta }: Pick<LinkMeasure, 'beta'>): number => 8 / beta;
