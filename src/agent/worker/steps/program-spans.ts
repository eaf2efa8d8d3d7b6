/**
 * The moments of a program's traced steps on the clock of the rank's thread. The program tells when
 * a step began by the clock of the machine, which may have been set since this process began. So
 * its exchange bounds it: the program had its gradient before the rank was told so, and no average
 * before the rank gave it. A step begins when the one before ended.
 */
import type { Stepped } from '../../bridge/messages.ts';
import type { ProgramSpans } from './steps.ts';

/** Moments of the exchange on this thread's clock, ms. */
interface ExchangeSeen {
  /** Moment at which the rank was told that all of the gradient was there. */
  readonly complete: number;
  /** Moment at which it began to tell the program of the average. */
  readonly averaging: number;
}

const MILLISECOND = 1e6;

/** Most by which readings of the machine's clock differ between two steps, ms. */
const JITTER = 5;

export class ProgramClock {
  /** The end of the last step, if it was traced. */
  #end: number | undefined;

  /** The spans of the next step; undefined if it was not told with them. */
  spansOf(
    { at, trace, wall }: Stepped['step'],
    { averaging, complete }: ExchangeSeen,
  ): ProgramSpans | undefined {
    const before = this.#end;
    this.#end = undefined;
    if (trace === undefined) return undefined;
    const { dropped, exchange, spans } = trace;
    const told = at - performance.timeOrigin;
    const follows = before !== undefined && Math.abs(before - told) < JITTER;
    const [had, got] = exchange ?? [-Infinity, Infinity];
    const begin = Math.min(
      complete - had / MILLISECOND,
      Math.max(averaging - got / MILLISECOND, follows ? before : told),
    );
    this.#end = begin + wall;
    return { begin, wall, spans, dropped };
  }
}
