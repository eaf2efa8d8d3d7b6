/**
 * Measures of the distribution of a gradient's elements, from a histogram. Elements that are exactly 0, such as
 * those of weights whose inputs are always 0, are left out. Within a bin magnitudes count as evenly spread.
 */
import { edgeOf, type Magnitudes } from '../shared/records/magnitudes.ts';
import type { CurvePoint } from './figure.ts';

export interface GradientShape {
  /** The root of the mean square. */
  readonly deviation: number;
  /** The magnitude that half of the elements do not exceed. */
  readonly median: number;
  /** The share of elements whose magnitude is below the deviation; of a normal distribution 0.683. */
  readonly within: number;
  /** The share of elements above 0. */
  readonly positive: number;
}

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** The shape of the distribution; undefined if all elements are 0. */
export function shapeOf(histogram: Magnitudes): GradientShape | undefined {
  const { negative, positive } = histogram;
  const bins = Array.from(
    { length: Math.max(negative.length, positive.length) },
    (_, bin): Bin => ({
      from: edgeOf(histogram, bin),
      to: edgeOf(histogram, bin + 1),
      count: (negative[bin] ?? 0) + (positive[bin] ?? 0),
    }),
  );
  const above = total(positive);
  const elements = above + total(negative);
  if (elements === 0) return undefined;
  // Of numbers that are evenly spread from a to b, the mean square is (a² + ab + b²)/3.
  const squares = bins.map(
    ({ count, from, to }) => (count * (from ** 2 + from * to + to ** 2)) / 3,
  );
  const deviation = Math.sqrt(total(squares) / elements);
  return {
    deviation,
    median: magnitudeOf(bins, elements / 2),
    within: below(bins, deviation) / elements,
    positive: above / elements,
  };
}

/**
 * The share of the elements per unit of their value, by that value: half octaves on either side of one bin around 0.
 * Empty if all elements are 0.
 * @param from the half octave at which the bin around 0 ends
 * @param to the half octave at which the outermost bins end
 */
export function densityOf(
  { first, negative, positive }: Magnitudes,
  from: number,
  to: number,
): readonly CurvePoint[] {
  const elements = total(negative) + total(positive);
  if (elements === 0) return [];
  const edge = (octave: number): number => edgeOf({ first: octave }, 0);
  const side = (counts: readonly number[], sign: number): readonly CurvePoint[] =>
    Array.from({ length: to - from }, (_, index) => {
      const [near, far] = [edge(from + index), edge(from + index + 1)];
      const share = (counts[from + index - first] ?? 0) / elements;
      return pointOf((sign * (near + far)) / 2, share / (far - near));
    });
  const within = Math.max(0, from - first);
  const close = total([...negative.slice(0, within), ...positive.slice(0, within)]);
  return [
    ...side(negative, -1).toReversed(),
    pointOf(0, close / elements / (2 * edge(from))),
    ...side(positive, 1),
  ];
}

/** Six digits are more than the counts of a histogram tell, and short in a file. */
const pointOf = (x: number, y: number): CurvePoint => ({
  x: Number(x.toPrecision(6)),
  y: Number(y.toPrecision(6)),
});

const total = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

/** The number of elements below a magnitude. */
const below = (bins: readonly Bin[], magnitude: number): number =>
  total(
    bins.map(({ count, from, to }) => {
      const part = (magnitude - from) / (to - from);
      return count * Math.min(1, Math.max(0, part));
    }),
  );

/** The magnitude below which this number of elements lies. */
function magnitudeOf(bins: readonly Bin[], elements: number): number {
  let left = elements;
  for (const { count, from, to } of bins) {
    if (count >= left && count > 0) return from + ((to - from) * left) / count;
    left -= count;
  }
  return bins.at(-1)!.to;
}
