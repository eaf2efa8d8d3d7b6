/**
 * The line of a card on which all senders' bytes come in. A segment comes byte by byte
 * while it leaves its sender, so it takes the line's time from before it is whole: what
 * other segments left free, and only then time after them. The sum of what has passed is
 * what the line could carry, in any order of arrival. Pure; times in ms.
 */
import type { SerialLine } from './serial-line.ts';

interface Gap {
  readonly from: number;
  readonly to: number;
}

export class LineIn {
  readonly #line: SerialLine;
  /** How far back a segment may begin, the longest's duration. */
  readonly #longest: number;
  /** In which the line had nothing to carry, as far back as matters. */
  #gaps: readonly Gap[] = [];

  constructor(line: SerialLine, mostBytes: number) {
    this.#line = line;
    this.#longest = line.duration(mostBytes);
  }

  /**
   * When its last byte has passed.
   * @param whole when it does if the line is free; ascending from call to call
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
