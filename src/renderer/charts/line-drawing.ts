/** Curves as data: what a line chart draws, and the picture that is saved of it. */
import type { CutValue, Picture, PictureAxis } from '../../export/picture/picture.ts';
import { shorten } from '../../shared/words/units.ts';
import type { AxisRange } from './axis-range.ts';
import type { PlacedRun } from './placed-run.ts';
import type { LineSeries } from './line-series.ts';
import { paperColour } from './paper-colours.ts';
import { pictureMarkers, runPictureAxis, type PictureWords } from './run-picture.ts';

/** @typeParam Run what is known of the run */
export interface LineDrawing<Run extends PlacedRun = PlacedRun> {
  /** Curves, whose x are iterations if a run is given, otherwise places on the axis. */
  readonly series: readonly LineSeries[];
  /** The run over whose iterations they are. */
  readonly run?: Run | undefined;
  /** The axis, unless it is that of a run. */
  readonly x?: AxisRange;
  readonly y: AxisRange;
  readonly logarithmic?: boolean;
  readonly format: (value: number) => string;
  /** Texts at the horizontal axis; default: whole numbers. */
  readonly formatX?: (value: number) => string;
  /** Values beyond the vertical axis, at iterations if a run is given. */
  readonly cut?: readonly CutValue[];
}

/** The axis of a chart that is not one of a run. */
export const PLAIN_AXIS: AxisRange = { min: 0, max: 1 };

type Points = LineSeries['points'];
type Placing = Pick<LineDrawing, 'logarithmic' | 'run' | 'y'>;

/**
 * Points on the axis. A logarithmic one has no place for zero: there is a gap, since a line through it would
 * say that there was something.
 */
export const placedPoints = (points: Points, placing: Placing): Points =>
  placed(points, placing, ({ y }) => (y > 0 ? y : NaN));

/** The edges of a band on the axis: its lower one is at the end of a logarithmic axis where it has no place. */
export function placedBand(
  { points, upper = [] }: Pick<LineSeries, 'points' | 'upper'>,
  placing: Placing,
): { readonly lower: Points; readonly upper: Points } {
  return {
    lower: placed(points, placing, ({ y }, index) => (upper[index]!.y > 0 ? y : NaN)),
    upper: placedPoints(upper, placing),
  };
}

function placed(
  points: Points,
  { logarithmic = false, run, y: { min } }: Placing,
  onLogarithmic: (point: Points[number], index: number) => number,
): Points {
  const isPlain = run === undefined || run.map.kind === 'iteration';
  if (isPlain && !logarithmic) return points;
  return points.map((point, index) => ({
    x: run?.map.toX(point.x) ?? point.x,
    y: logarithmic ? Math.max(min, onLogarithmic(point, index)) : point.y,
  }));
}

/** Whether each point is alone between gaps, so that no line leads to it; empty if there is no gap. */
export function lonePoints(points: Points): readonly boolean[] {
  if (points.every(({ y }) => Number.isFinite(y))) return [];
  const isGap = (index: number): boolean => !Number.isFinite(points[index]?.y);
  return points.map((_, i) => !isGap(i) && isGap(i - 1) && isGap(i + 1));
}

/** The picture of a line chart. @param axis the name of the axis, unless it is that of a run */
export function linePicture(
  words: PictureWords,
  drawing: LineDrawing,
  axis = 'iteration',
): Picture {
  const { cut = [], format, logarithmic = false, run, series, y } = drawing;
  return {
    title: words.title,
    unit: words.unit,
    caption: words.caption,
    x: run === undefined ? plainAxis(drawing, axis) : runPictureAxis(run),
    y: {
      label: '',
      min: y.min,
      max: y.max,
      logarithmic,
      format: (value) => shorten(format(value)),
    },
    series: series
      .map(({ dash, label, look, points, property, upper }) => {
        const band = upper && placedBand({ points, upper }, drawing);
        return {
          label,
          colour: paperColour(property),
          look,
          points: band?.lower ?? placedPoints(points, drawing),
          ...(band === undefined ? {} : { upper: band.upper }),
          ...(dash === undefined ? {} : { dash }),
        };
      })
      // A logarithmic axis has no place for a series of zeros.
      .filter(({ points }) => points.some(({ y }) => Number.isFinite(y))),
    markers: run === undefined ? [] : pictureMarkers(run),
    cut: cut.map(({ x, ...one }) => ({ ...one, x: run?.map.toX(x) ?? x })),
  };
}

function plainAxis({ formatX = String, x }: LineDrawing, label: string): PictureAxis {
  const { max, min } = x ?? PLAIN_AXIS;
  return { label, min, max, format: formatX };
}
