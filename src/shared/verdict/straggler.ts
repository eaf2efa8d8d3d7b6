/**
 * The straggler: the rank that arrives last in most exchanges, so that the others wait for it. Whether
 * there is one is decided here alone, for verdicts, commands and the page, of whatever iterations.
 */
import { VERDICT_MINIMUM } from './window-summary.ts';

/** Lateness below this part of the step has no culprit: it would be noise. */
const NOTEWORTHY_LATENESS = 0.02;

export interface Straggler {
  readonly rank: number;
  /** The part of all lateness that counts against it. */
  readonly share: number;
}

/** Lateness of some iterations, counted against the rank that arrived last in each. */
export class Lateness {
  /** Sums in milliseconds, by rank: how long the mean rank waited for it. */
  readonly against: Float64Array;
  iterations = 0;
  /** The sum of their wall times. */
  step = 0;

  constructor(ranks: number) {
    this.against = new Float64Array(ranks);
  }

  clear(): void {
    this.against.fill(0);
    this.iterations = 0;
    this.step = 0;
  }

  /** Adds iterations of which this is the sum of wall times. */
  count(iterations: number, step: number): void {
    this.iterations += iterations;
    this.step += step;
  }

  add({ against, iterations, step }: Lateness): void {
    this.count(iterations, step);
    for (let rank = 0; rank < against.length; rank++)
      this.against[rank]! += against[rank]!;
  }

  /**
   * One rank must have a share of all lateness halfway between chance, 1/P, and all. A rank whose link is
   * slow is awaited, too, but communicates longest itself, so that it never arrives last.
   */
  get straggler(): Straggler | undefined {
    const { against, iterations, step } = this;
    let [lateness, worst] = [0, 0];
    for (let rank = 0; rank < against.length; rank++) {
      lateness += against[rank]!;
      if (against[rank]! > against[worst]!) worst = rank;
    }
    if (iterations < VERDICT_MINIMUM || !(lateness > NOTEWORTHY_LATENESS * step))
      return;
    const share = against[worst]! / lateness;
    return share < (1 + 1 / against.length) / 2 ? undefined : { rank: worst, share };
  }

  /** Milliseconds, summed, for which each other rank waited for one. */
  waitFor(rank: number): number {
    const ranks = this.against.length;
    return (this.against[rank]! * ranks) / (ranks - 1);
  }
}
