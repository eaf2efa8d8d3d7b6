/** Pins one iteration of a bar or a point of a chart, which may stand for several. */
import { formatCount } from '../../shared/words/units.ts';
import type { ChartView, PinnedOf } from './chart-view.svelte.ts';
import type { Part } from './span.ts';

type PinningView = Pick<ChartView, 'length' | 'pin'>;

/** The bar at a place, if it stands for several iterations that have run. */
function barAt(bars: readonly Part[], place: number, length: number): Part | undefined {
  const iteration = Math.round(place);
  const bar = bars.find(({ from, to }) => from <= iteration && iteration < to);
  if (bar === undefined) return undefined;
  const to = Math.min(bar.to, length);
  return to - bar.from > 1 ? { from: bar.from, to } : undefined;
}

/** Pins the iteration at a place, and notes which ones the point there stands for. */
export function pinPoint(
  view: PinningView,
  points: readonly Part[],
  place: number,
): void {
  const point = barAt(points, place, view.length);
  view.pin(place, point && { ...point, choice: 'place' });
}

/** Pins the longest iteration of a bar: the one that was asked for last. */
export class BarPin {
  readonly #view: PinningView;
  readonly #longestIn: (bar: Part, rank?: number) => Promise<number | undefined>;
  #asked = 0;

  /** @param longestIn the longest iteration, or undefined where there are too many to look at */
  constructor(
    view: PinningView,
    longestIn: (bar: Part, rank?: number) => Promise<number | undefined>,
  ) {
    this.#view = view;
    this.#longestIn = longestIn;
  }

  /** @param rank whose bars they are; default: all together */
  async pin(bars: readonly Part[], place: number, rank?: number): Promise<void> {
    const asked = ++this.#asked;
    const bar = barAt(bars, place, this.#view.length);
    if (bar === undefined) {
      this.#view.pin(place);
      return;
    }
    // A bar that cannot be read is pinned at the cursor, too.
    const longest = await this.#longestIn(bar, rank).catch(() => undefined);
    if (asked !== this.#asked) return;
    if (longest === undefined) this.#view.pin(place, { ...bar, choice: 'too-many' });
    else {
      const choice = rank === undefined ? 'longest' : { longestOf: rank };
      this.#view.pin(longest, { ...bar, choice });
    }
  }
}

const CHOICES = {
  longest: 'the longest',
  place: 'the one at the cursor; zoom in to choose another',
  'too-many':
    'the one at the cursor, as these are too many to find the longest; zoom in',
} as const;

/** The bar of a pinned iteration in words: `one of iterations 360–367, the longest`. */
export function pinnedOfText({ choice, from, to }: PinnedOf): string {
  const which =
    typeof choice === 'object'
      ? `the longest of rank ${choice.longestOf}`
      : CHOICES[choice];
  return `one of iterations ${formatCount(from)}–${formatCount(to - 1)}, ${which}`;
}
