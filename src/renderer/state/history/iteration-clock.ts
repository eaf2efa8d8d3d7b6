/** Iterations at moments of a run, for events that tell the time alone. */
import { meanOf, type Bin } from './bin.ts';
import type { RunHistory } from './run-history.ts';

/** Most bins over the whole run. */
const BINS = 300;

type Times = Pick<RunHistory, 'bins' | 'length' | 'recent'>;

/** Moments at which iterations began, each the mean over ranks: records tell their begin, not their end. */
export class IterationClock {
  readonly #history: Times;
  readonly #shown: readonly Bin[];
  /** Read only if an event needs it. */
  #whole: readonly Bin[] | undefined;

  /** @param shown bins of a part of the run, which may be finer than those of the whole */
  constructor(history: Times, shown: readonly Bin[] = []) {
    this.#history = history;
    this.#shown = shown;
  }

  /**
   * The iteration that was in progress, the last that had begun; before the first one, that one. Exact
   * where iterations are held one by one, otherwise estimated from bins.
   * @returns undefined while there is none
   */
  near(at: number): number | undefined {
    const { length } = this.#history;
    this.#whole ??= this.#history.bins({ from: 0, to: length, limit: BINS });
    const whole = this.#whole;
    const [first, last] = [whole[0], whole.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const index = lastBegun(whole, at);
    const { from } = whole[Math.max(0, index)]!;
    const to = Math.min(length, (whole[index + 1] ?? last).to);
    return (
      this.#held(from, to, at) ??
      between(this.#shown, at) ??
      between(whole, at) ??
      (index < 0 ? before(whole, at) : length - 1)
    );
  }

  /** The iteration among these; undefined if not all of them are held one by one. */
  #held(from: number, to: number, at: number): number | undefined {
    const { recent } = this.#history;
    let begun = from;
    for (let iteration = from; iteration < to; iteration++) {
      const time = recent.mean(iteration, 'at');
      if (Number.isNaN(time)) return undefined;
      if (time > at) break;
      begun = iteration;
    }
    return begun;
  }
}

const timeOf = (bin: Bin): number => meanOf(bin, 'at') ?? -Infinity;

/** The place of the last bin whose middle had begun at a moment; -1: none had. */
function lastBegun(bins: readonly Bin[], at: number): number {
  const next = bins.findIndex((bin) => timeOf(bin) > at);
  return next < 0 ? bins.length - 1 : next - 1;
}

/** The iteration between the middles of two bins; undefined if the moment is between none. */
function between(bins: readonly Bin[], at: number): number | undefined {
  const index = lastBegun(bins, at);
  const [before, after] = [bins[index], bins[index + 1]];
  if (before === undefined || after === undefined) return undefined;
  const start = middleOf(before);
  const share = (at - timeOf(before)) / (timeOf(after) - timeOf(before));
  return Math.floor(start + share * (middleOf(after) - start));
}

/** The iteration before the middle of the first bin, by the pace of the first two; never before the first. */
function before(bins: readonly Bin[], at: number): number {
  const [first, second] = [bins[0]!, bins[1]];
  if (second === undefined) return first.from;
  const pace = (timeOf(second) - timeOf(first)) / (middleOf(second) - middleOf(first));
  const iteration = middleOf(first) - (timeOf(first) - at) / pace;
  return Math.max(first.from, Math.floor(iteration));
}

const middleOf = ({ from, to }: Bin): number => (from + to - 1) / 2;
