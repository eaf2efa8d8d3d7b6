/** A sweep as the page asks for it: the spec's text, and what is varied as it was typed. */
import { z } from 'zod';
import type { ErrorData } from '../errors/errors.ts';
import { MOST_AT_ONCE, MOST_SWEEP_RUNS } from './sweep-definition.ts';
import type { SweepPointStatus } from './sweep-status.ts';

const LONGEST_SPEC = 1_000_000;
const LONGEST_VALUES = 20_000;
const MOST_KEYS = 20;

export const sweepRequestSchema = z.strictObject({
  /** The spec that is varied, as YAML. */
  spec: z.string().max(LONGEST_SPEC),
  /** Keys with their values: `exchange.ratio=0.01,0.1`. */
  vary: z.array(z.string().max(LONGEST_VALUES)).max(MOST_KEYS),
  seeds: z.union([z.int().min(1), z.array(z.int().min(0)).min(1).max(MOST_SWEEP_RUNS)]),
  atOnce: z.int().min(1).max(MOST_AT_ONCE),
});
export type SweepRequest = z.infer<typeof sweepRequestSchema>;

/** The points of a sweep that can run, or the first error. */
export type SweepCheck =
  | {
      readonly ok: true;
      readonly keys: readonly string[];
      readonly points: readonly SweepPointStatus[];
      readonly seeds: readonly number[];
    }
  | { readonly ok: false; readonly error: ErrorData };
