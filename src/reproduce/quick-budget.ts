/**
 * The time that `gradwire reproduce --quick` has, and which figures it leaves out. A figure is never made
 * smaller: fewer seeds or iterations would not decide it. It is made whole if its runs fit, else it is given up
 * as soon as the first runs say so.
 */
import type { PlannedRun } from './planned-runs.ts';

/** Milliseconds for all figures: under half an hour with the run that is under way when a figure is given up. */
const BUDGET_MS = 25 * 60_000;
/** The part of what is left that one figure may take, so that something is left for the others. */
const SHARE = 1 / 4;

/** A figure that is left out, and why. */
export interface LeftOut {
  readonly figure: string;
  /** `2 of 50 runs took 1 min 35 s, so all would take some 40 minutes` */
  readonly why: string;
}

export class QuickBudget {
  #left: number;
  /** Figures that were left out, in the order in which that was found. */
  readonly leftOut: LeftOut[] = [];

  /** @param milliseconds for all figures together */
  constructor(milliseconds = BUDGET_MS) {
    this.#left = milliseconds;
  }

  /** Milliseconds that the next figure may take. */
  get share(): number {
    return this.#left * SHARE;
  }

  /** Takes what a figure took, whole or not, from what is left. */
  spend(milliseconds: number): void {
    this.#left = Math.max(0, this.#left - milliseconds);
  }

  leaveOut(figure: string, why: string): void {
    this.leftOut.push({ figure, why });
  }
}

/**
 * Milliseconds that all runs will take, by those that were made.
 * @param made at least one
 */
export const projected = (milliseconds: number, made: number, of: number): number =>
  (milliseconds * of) / made;

/** Iterations of all ranks in all runs: what figures are ordered by, as their times are not known before. */
export const workOf = (runs: readonly PlannedRun[]): number =>
  runs.reduce((sum, { spec }) => sum + spec.iterations * spec.world.ranks, 0);
