/** Bars of phases as data: what the chart of phases draws, and the picture that is saved of it. */
import { INK_COLOUR, PHASE_COLOURS } from '../../export/picture/colours.ts';
import { phasePattern } from '../../export/picture/phase-patterns.ts';
import type { Picture, PictureSeries } from '../../export/picture/picture.ts';
import { PHASES, type Phase } from '../../shared/records/phases.ts';
import { formatDuration, shorten } from '../../shared/words/units.ts';
import { extremesOf, meanOf, widestOf, type Bin } from '../state/history/bin.ts';
import type { AxisRange } from './axis-range.ts';
import { barRange, fitted } from './bar-heights.ts';
import type { PlacedRun } from './placed-run.ts';
import { PHASE_STYLES } from './phase-style.ts';
import { pictureMarkers, runPictureAxis, type PictureWords } from './run-picture.ts';

type IsShown = (field: Phase | 'overlapped') => boolean;

interface PhaseLook {
  readonly isShown: IsShown;
  /** Whether all phases have patterns. */
  readonly patterns: boolean;
}

export interface PhaseBars {
  readonly bins: readonly Bin[];
  /** Sums of the phases shown, in milliseconds. */
  readonly heights: readonly number[];
  /** The shortest and the longest iteration of each merged bar. */
  readonly spreads: readonly (readonly [number, number] | undefined)[];
  readonly y: AxisRange;
  /** Factors for the phases of bars that end at the axis. */
  readonly factors: readonly number[];
  /** Bars that are longer than the axis, by their place in the list. */
  readonly cut: readonly {
    readonly index: number;
    readonly y: number;
    readonly label: string;
  }[];
}

export function phaseBars(bins: readonly Bin[], isShown: IsShown): PhaseBars {
  const heights = bins.map((bin) =>
    PHASES.reduce(
      (sum, phase) => sum + (isShown(phase) ? (meanOf(bin, phase) ?? 0) : 0),
      0,
    ),
  );
  // Extremes are those of whole iterations: they say nothing of some phases alone.
  const hasSpreads = widestOf(bins) > 1 && PHASES.every(isShown);
  const spreads = bins.map((bin) => (hasSpreads ? extremesOf(bin, 'wall') : undefined));
  const y = barRange(
    heights,
    spreads.map((extremes) => extremes?.[1] ?? 0),
  );
  return {
    bins,
    heights,
    spreads,
    y,
    factors: heights.map((height) => fitted(height, y.max)),
    cut: heights.flatMap((height, index) => {
      const most = Math.max(height, spreads[index]?.[1] ?? 0);
      return most > y.max
        ? [{ index, y: most, label: shorten(formatDuration(most)) }]
        : [];
    }),
  };
}

/** The picture of these bars on a run's axis. */
export function phasePicture(
  words: PictureWords,
  run: PlacedRun,
  bars: PhaseBars,
  { isShown, patterns }: PhaseLook,
): Picture {
  const { bins, factors, heights, spreads, y } = bars;
  const edges = bins.map(({ from, to }): [number, number] => [
    run.map.toX(from - 0.5),
    run.map.toX(to - 0.5),
  ]);
  const places = edges.map(([left, right]) => (left + right) / 2);
  const widths = edges.map(([left, right]) => right - left);
  const heightOf = (index: number, field: Phase | 'overlapped'): number =>
    isShown(field) ? (meanOf(bins[index]!, field) ?? 0) * factors[index]! : 0;
  const seriesOf = (
    field: Phase | 'overlapped',
    base: readonly number[],
  ): PictureSeries => ({
    label: field === 'overlapped' ? field : PHASE_STYLES[field].title,
    colour: PHASE_COLOURS[field === 'overlapped' ? 'compute' : field],
    pattern: field === 'overlapped' ? 'plain' : phasePattern(field, patterns),
    look: field === 'overlapped' ? 'hatched' : 'bars',
    points: places.map((x, index) => ({ x, y: heightOf(index, field) })),
    base,
    widths,
  });
  let base: readonly number[] = bins.map(() => 0);
  const stacked = PHASES.map((phase) => {
    const one = seriesOf(phase, base);
    base = base.map((bottom, index) => bottom + one.points[index]!.y);
    return one;
  });
  // What is hidden is so under computing, which begins where data ends.
  const afterData = bins.map((_, index) => heightOf(index, 'data'));
  const known = spreads.flatMap((ends, index) =>
    ends === undefined
      ? []
      : [{ x: places[index]!, ends, bar: Math.min(heights[index]!, y.max) }],
  );
  const spread: PictureSeries = {
    label: 'shortest to longest iteration',
    colour: INK_COLOUR,
    look: 'spread',
    points: known.map(({ bar, ends, x }) => ({ x, y: Math.min(ends[0], bar) })),
    upper: known.map(({ bar, ends, x }) => ({ x, y: Math.max(ends[1], bar) })),
  };
  const all = [...stacked, seriesOf('overlapped', afterData)];
  return {
    title: words.title,
    unit: words.unit,
    caption: words.caption,
    x: runPictureAxis(run),
    y: {
      label: '',
      min: y.min,
      max: y.max,
      format: (value) => shorten(formatDuration(value)),
    },
    series: [
      ...all.filter(({ points }) => points.some((point) => point.y > 0)),
      ...(known.length === 0 ? [] : [spread]),
    ],
    markers: pictureMarkers(run),
    cut: bars.cut.map(({ index, ...one }) => ({ ...one, x: places[index]! })),
  };
}
