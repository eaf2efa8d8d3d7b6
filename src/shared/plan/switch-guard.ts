/**
 * A guard of a switch: limits within which a run may become worse. If one is exceeded, the run
 * switches back by itself and says why.
 */
import { z } from 'zod';

const factor = z.number().gt(1).max(1000);

export const switchGuardSchema = z.object({
  /** Longest step, as a multiple of the median before the fence. */
  step: factor.optional(),
  /** Largest loss, as a multiple of the median before the fence. */
  loss: factor.optional(),
  /**
   * Largest norm of the residual, as a multiple of the median before the fence, or of the first
   * iterations after it if there was none.
   */
  residual: factor.optional(),
});
export type SwitchGuard = Readonly<z.infer<typeof switchGuardSchema>>;

export type GuardedMeasure = keyof SwitchGuard;

/** Titles of what a guard watches. */
export const GUARDED: Readonly<Record<GuardedMeasure, string>> = {
  step: 'step',
  loss: 'loss',
  residual: 'residual norm',
};
