/**
 * The time that `gradwire reproduce --quick` has, and which figures it leaves out. A figure is never made
 * smaller: fewer seeds or iterations would not decide it. It is made whole if its runs fit, else it is given up
 * as soon as the first runs say so; it is not begun where even its first run may take more than what is left.
 * What is left at the end goes to those that still fit, the shortest first.
 */
import { isProgram } from '../shared/spec/program-spec.ts';
import { formatElapsed } from '../shared/words/units.ts';
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
  /** Milliseconds that all runs of a figure would take, of those that were given up once. */
  readonly #whole = new Map<string, number>();
  readonly #tried = new Set<string>();
  /** The longest first run of a figure, in milliseconds. */
  #longest = 0;
  /** The most milliseconds that a rank’s iteration took in a first run, by model. */
  readonly #paces = new Map<string, number>();
  /** Figures that were left out, in the order in which that was found. */
  #leftOut: readonly LeftOut[] = [];

  /** @param milliseconds for all figures together */
  constructor(milliseconds = BUDGET_MS) {
    this.#left = milliseconds;
  }

  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** Milliseconds that the next figure may take: a part of what is left, or all of it in the second round. */
  get share(): number {
    return this.#tried.size === 0 ? this.#left * SHARE : this.#left;
  }

  /**
   * Whether there is time for a figure's first run, which is estimated by those of the same model, or by the
   * longest of all for a model that is new; leaves the figure out if not. One that was taken back is known to fit.
   */
  begins(figure: string, runs: readonly PlannedRun[]): boolean {
    if (this.#tried.has(figure)) return true;
    const first = this.#firstOf(runs);
    if (this.#left > 0 && first <= this.#left) return true;
    const needed =
      first > 0 ? `, and its first run may take ${formatElapsed(first)}` : '';
    this.leaveOut({
      figure,
      why: `not begun: ${formatElapsed(this.#left)} of the time was left${needed}`,
    });
    return false;
  }

  /** Takes how long a figure’s first run took, beside those that began with it. */
  tookFirst(run: PlannedRun, milliseconds: number): void {
    const { model, work } = firstOf([run]);
    const pace = milliseconds / work;
    this.#longest = Math.max(this.#longest, milliseconds);
    this.#paces.set(model, Math.max(pace, this.#paces.get(model) ?? 0));
  }

  /** Milliseconds that a figure's first run may take. */
  #firstOf(runs: readonly PlannedRun[]): number {
    const { model, work } = firstOf(runs);
    const pace = this.#paces.get(model);
    return pace === undefined ? this.#longest : pace * work;
  }

  /** Takes what a figure took, whole or not, from what is left. */
  spend(milliseconds: number): void {
    this.#left = Math.max(0, this.#left - milliseconds);
  }

  /** @param whole milliseconds that all its runs would take; absent if no time is enough */
  leaveOut(left: LeftOut, whole?: number): void {
    this.#leftOut = [...this.#leftOut, left];
    if (whole !== undefined) this.#whole.set(left.figure, whole);
  }

  /**
   * Takes back the figure that takes the least of those that were left out, once each: it is made after all.
   * @returns undefined if none fits into the time that is left
   */
  takeBack(): string | undefined {
    const [shortest] = this.#leftOut
      .filter(({ figure }) => !this.#tried.has(figure))
      .flatMap(({ figure }) => {
        const whole = this.#whole.get(figure);
        return whole === undefined || whole > this.#left ? [] : [{ figure, whole }];
      })
      .toSorted((a, b) => a.whole - b.whole);
    if (shortest === undefined) return undefined;
    this.#tried.add(shortest.figure);
    this.#leftOut = this.#leftOut.filter(({ figure }) => figure !== shortest.figure);
    return shortest.figure;
  }
}

/** The model of a figure's first run, and its work. */
function firstOf(runs: readonly PlannedRun[]): {
  readonly model: string;
  readonly work: number;
} {
  const { workload } = runs[0]!.spec;
  return {
    model: isProgram(workload) ? 'a program' : workload.model,
    work: workOf(runs.slice(0, 1)),
  };
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
