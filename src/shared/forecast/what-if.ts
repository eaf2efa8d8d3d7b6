/** A recorded run under another exchange, network or number of ranks: the question and its answer. */
import { z } from 'zod';
import { runIdSchema } from '../checks/run-id.ts';
import { linkSpecSchema } from '../machines/emulated-network.ts';
import { MOST_PLANNED_RANKS } from './plan-request.ts';
import type { RecordedStep, ReplayedMean } from './replay.ts';

/** Most iterations that are replayed, and how many are if nobody says. */
export const MOST_REPLAYED = 2000;
/** Fewest iterations that a mean is made of. */
export const FEWEST_REPLAYED = 10;
export const REPLAYED = 200;

export const whatIfRequestSchema = z.strictObject({
  run: runIdSchema,
  /** Keys of the exchange plan that differ, as in a switch. */
  change: z.record(z.string().max(100), z.json()).optional(),
  ranks: z.int().min(1).max(MOST_PLANNED_RANKS).optional(),
  /** Equal machines that share the ranks; default: those of the run. */
  machines: z.int().min(1).max(MOST_PLANNED_RANKS).optional(),
  /** A network to emulate; default: that of the run. */
  network: linkSpecSchema.optional(),
  /** The newest iterations of the plan in force. */
  iterations: z.int().min(FEWEST_REPLAYED).max(MOST_REPLAYED).optional(),
});
export type WhatIfRequest = z.input<typeof whatIfRequestSchema>;

/** A switch that happened, and what a replay of the iterations before it says. Times in ms. */
export interface ForetoldSwitch {
  readonly fence: number;
  /** Plans in words. */
  readonly from: string;
  readonly to: string;
  /** Means of the wall time. */
  readonly before: number;
  readonly predicted: ReplayedMean;
  readonly observed: number;
  /** Predicted over observed, less 1. */
  readonly error: number;
}

export interface WhatIf {
  readonly run: string;
  readonly name: string;
  /** Plans in words. */
  readonly from: string;
  readonly to: string;
  readonly ranks: readonly [number, number];
  /** Networks in words. */
  readonly networks: readonly [string, string];
  /** The first and the last iteration that are replayed. */
  readonly first: number;
  readonly last: number;
  readonly recorded: ReplayedMean;
  readonly replayed: ReplayedMean;
  readonly change: ReplayedMean;
  /** Bytes of one rank's payloads, predicted: before and after. */
  readonly payloadBytes: readonly [number, number];
  readonly collectives: readonly [string, string];
  readonly steps: {
    readonly recorded: readonly RecordedStep[];
    readonly replayed: readonly RecordedStep[];
  };
  readonly switches: readonly ForetoldSwitch[];
  /** Part of what the model adds that it may be wrong by; after switches at least their error. */
  readonly modelError: number;
  readonly text: string;
}
