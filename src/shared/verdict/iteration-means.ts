/** Means over all ranks, iteration by iteration. */
import type { Field } from '../records/chart-fields.ts';

export interface IterationMeans {
  /** The newest iteration that every rank has reported; −1: none yet. */
  readonly newestComplete: number;
  /** Whether all ranks have reported it. */
  isComplete(iteration: number): boolean;
  /** NaN if no rank has it. */
  mean(iteration: number, field: Field): number;
}
