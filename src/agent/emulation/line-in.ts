/**
 * The incoming line of a card, for all senders. A segment arrives byte by byte while it
 * leaves its sender, so it uses the line's time before it is complete: first time that
 * other segments left free, then time after them. In any order of arrival the total
 * never exceeds what the line could carry. Pure; times in ms.
 */
import type { SerialLine } from './serial-line.ts';

interface Gap {
  readonly from: number;
  readonly to: number;
}

export class LineIn {
  readonly #line: SerialLine;
  /** Duration of the longest segment: gaps are kept this far back. */
  readonly #longest: number;
  /** Idle periods of the line, as far back as needed. */
  #gaps: readonly Gap[] = [];

  constructor(line: SerialLine, mostBytes: number) {
    this.#line = line;
    this.#longest = line.duration(mostBytes);
  }

  /**
   * Returns when its last byte has passed.
   * @param whole when it would be complete on a free line; ascending from call to call
   */
  pass(whole: number, bytes: number): number {
    const duration = this.#line.duration(bytes);
    const begun = whole - duration;
    const gaps = this.#gaps.filter(({ to }) => to > whole - this.#longest);
    const { free } = this.#line;
    if (begun >= free) {
      this.#gaps = begun > free ? [...gaps, { from: free, to: begun }] : gaps;
      return this.#line.occupy(begun, duration);
    }
    let missing = duration;
    this.#gaps = gaps.flatMap((gap) => {
      const from = Math.max(gap.from, begun);
      const used = Math.min(missing, Math.max(0, gap.to - from));
      if (used === 0) return [gap];
      missing -= used;
      const left = [
        { from: gap.from, to: from },
        { from: from + used, to: gap.to },
      ];
      return left.filter((part) => part.to > part.from);
    });
    return Math.max(whole, this.#line.occupy(free, missing));
  }
}
