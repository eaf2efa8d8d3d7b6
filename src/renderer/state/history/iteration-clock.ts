/** Iterations at moments of a run, for events that tell the time alone. */
import { meanOf, type Bin } from './bin.ts';
import type { RunHistory } from './run-history.ts';

/** Most bins over the whole run. */
const BINS = 300;

type Times = Pick<RunHistory, 'bins' | 'length' | 'recent'>;

/** An iteration's time is that of its end, the mean over ranks. */
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
   * The iteration that was in progress; after the newest one, that one. Exact where iterations
   * are held one by one, otherwise estimated from bins.
   * @returns undefined while there is none
   */
  near(at: number): number | undefined {
    const { length } = this.#history;
    this.#whole ??= this.#history.bins({ from: 0, to: length, limit: BINS });
    const whole = this.#whole;
    const [first, last] = [whole[0], whole.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const next = whole.findIndex((bin) => timeOf(bin) >= at);
    const from = next < 0 ? last.from : (whole[next - 1] ?? first).from;
    const to = Math.min(length, (whole[next] ?? last).to);
    return (
      this.#held(from, to, at) ??
      between(this.#shown, at) ??
      between(whole, at) ??
      (next < 0 ? length - 1 : first.from)
    );
  }

  /** The iteration among these; undefined if not all of them are held one by one. */
  #held(from: number, to: number, at: number): number | undefined {
    const { recent } = this.#history;
    for (let iteration = from; iteration < to; iteration++) {
      const time = recent.mean(iteration, 'at');
      if (Number.isNaN(time)) return undefined;
      if (time >= at) return iteration;
    }
    return to - 1;
  }
}

const timeOf = (bin: Bin): number => meanOf(bin, 'at') ?? -Infinity;

/** The iteration between the middles of two bins; undefined if the moment is between none. */
function between(bins: readonly Bin[], at: number): number | undefined {
  const next = bins.findIndex((bin) => timeOf(bin) >= at);
  if (next < 1) return undefined;
  const [before, after] = [bins[next - 1]!, bins[next]!];
  const start = middleOf(before);
  const share = (at - timeOf(before)) / (timeOf(after) - timeOf(before));
  return Math.ceil(start + share * (middleOf(after) - start));
}

const middleOf = ({ from, to }: Bin): number => (from + to - 1) / 2;
