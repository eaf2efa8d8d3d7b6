/**
 * Curves from bins: the points that line charts draw and their tables list. A bin's point
 * is at its middle; a quantity that was not observed has no point.
 */
import { exponentialAverage } from './exponential-average.ts';
import {
  COLUMN,
  type BandedField,
  type Field,
} from '../../shared/records/chart-fields.ts';
import { extremesOf, meanOf, type Bin } from '../state/history/bin.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Most points of a curve. */
export const CURVE_POINTS = 300;

export function middle(bin: Bin): number {
  return (bin.from + bin.to - 1) / 2;
}

export function meanCurve(bins: readonly Bin[], field: Field): Point[] {
  return curve(bins, (bin) => meanOf(bin, field));
}

/** Points where the value is known, for a quantity derived from several fields. */
export function curve(
  bins: readonly Bin[],
  value: (bin: Bin) => number | undefined,
): Point[] {
  const points: Point[] = [];
  for (const bin of bins) {
    const y = value(bin);
    if (y !== undefined) points.push({ x: middle(bin), y });
  }
  return points;
}

/** The value of a curve at a bin: bins without a point make places in the two lists differ. */
export function valueAt(points: readonly Point[], bin: Bin): number | undefined {
  const x = middle(bin);
  return points.find((point) => point.x === x)?.y;
}

/** The debiased average, which knows how many iterations each bin stands for. */
export function smoothCurve(
  bins: readonly Bin[],
  field: Field,
  decay: number,
): Point[] {
  const averages = exponentialAverage(
    bins.map((bin) => bin.means[COLUMN[field]]!),
    bins.map((bin) => bin.to - bin.from),
    decay,
  );
  const points: Point[] = [];
  averages.forEach((y, index) => {
    if (!Number.isNaN(y)) points.push({ x: middle(bins[index]!), y });
  });
  return points;
}

export function bandCurves(
  bins: readonly Bin[],
  field: BandedField,
): { lower: Point[]; upper: Point[] } {
  return {
    lower: curve(bins, (bin) => extremesOf(bin, field)?.[0]),
    upper: curve(bins, (bin) => extremesOf(bin, field)?.[1]),
  };
}
