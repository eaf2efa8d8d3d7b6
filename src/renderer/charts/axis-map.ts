/**
 * The horizontal axis of a run's charts: where an iteration is on it. Iterations are what the
 * charts share; time and bytes are told by knots between which both grow evenly.
 */
import { meanOf, type Bin } from '../state/history/bin.ts';
import { middle } from './curves.ts';

export type AxisKind = 'iteration' | 'time' | 'clock' | 'bytes';

interface Knot {
  readonly iteration: number;
  readonly x: number;
}

export class AxisMap {
  readonly kind: AxisKind;
  /** Ascending in both; none: the axis is that of iterations. */
  readonly #knots: readonly Knot[];
  /** Growth per iteration beyond the ends. */
  readonly #slope: number;

  constructor(kind: AxisKind, knots: readonly Knot[] = []) {
    const [first, last] = [knots[0], knots.at(-1)];
    const isTold = first !== undefined && last !== undefined && last.x > first.x;
    this.kind = isTold ? kind : 'iteration';
    this.#knots = isTold ? knots : [];
    this.#slope = isTold ? (last.x - first.x) / (last.iteration - first.iteration) : 1;
  }

  /** The place of an iteration, which may be a fraction. */
  toX(iteration: number): number {
    return this.#along('iteration', 'x', iteration, this.#slope);
  }

  /** The iteration at a place, a fraction. */
  toIteration(x: number): number {
    return this.#along('x', 'iteration', x, 1 / this.#slope);
  }

  #along(of: keyof Knot, to: keyof Knot, value: number, slope: number): number {
    const knots = this.#knots;
    const [first, last] = [knots[0], knots.at(-1)];
    if (first === undefined || last === undefined) return value;
    if (value <= first[of]) return first[to] - (first[of] - value) * slope;
    if (value >= last[of]) return last[to] + (value - last[of]) * slope;
    let low = 0;
    let high = knots.length - 1;
    while (high - low > 1) {
      const between = (low + high) >> 1;
      if (knots[between]![of] <= value) low = between;
      else high = between;
    }
    const [left, right] = [knots[low]!, knots[high]!];
    const share = (value - left[of]) / (right[of] - left[of]);
    return left[to] + share * (right[to] - left[to]);
  }
}

/** Bins of the whole run, and finer ones of the part that is shown. */
interface AxisBins {
  readonly whole: readonly Bin[];
  readonly part: readonly Bin[];
  /** Iterations of the run. */
  readonly length: number;
}

/** The axis of a kind; that of iterations, if nothing tells the other one. */
export function axisMapOf(kind: AxisKind, bins: AxisBins): AxisMap {
  if (kind === 'iteration') return new AxisMap(kind);
  return new AxisMap(
    kind,
    kind === 'bytes' ? byteKnots(bins) : timeKnots(bins, kind === 'time'),
  );
}

/** Moments by bins; clocks of ranks differ, so that a mean over fewer may be an earlier one. */
function timeKnots({ whole, part }: AxisBins, sinceStart: boolean): readonly Knot[] {
  const knots = merged(whole, part).flatMap((bin) => {
    const x = meanOf(bin, 'at');
    return x === undefined ? [] : [{ iteration: middle(bin), x }];
  });
  const start = sinceStart ? new AxisMap('time', ascending(knots)).toX(0) : 0;
  return ascending(knots.map(({ iteration, x }) => ({ iteration, x: x - start })));
}

/** The bytes that a rank has sent, the mean over all: exact at the ends of the bins. */
function byteKnots({ length, part, whole }: AxisBins): readonly Knot[] {
  const sums = new AxisMap('bytes', summed(whole, { iteration: -0.5, x: 0 }, length));
  const [first] = part;
  const before = whole.filter((bin) => first === undefined || bin.to <= first.from);
  const after = whole.filter((bin) => bin.from >= (part.at(-1)?.to ?? Infinity));
  const ends = (bins: readonly Bin[]): readonly Knot[] =>
    bins.map(({ to }) => ({ iteration: to - 0.5, x: sums.toX(to - 0.5) }));
  const start = first === undefined ? 0 : first.from - 0.5;
  const fine = first && summed(part, { iteration: start, x: sums.toX(start) }, length);
  return ascending([
    { iteration: -0.5, x: 0 },
    ...ends(before),
    ...(fine ?? []),
    ...ends(after),
  ]);
}

/** Running sums of what was sent, from a knot on. */
function summed(bins: readonly Bin[], from: Knot, length: number): readonly Knot[] {
  const knots = [from];
  let { x } = from;
  for (const bin of bins) {
    const end = Math.min(bin.to, length);
    x += (meanOf(bin, 'wireSent') ?? 0) * (end - bin.from);
    knots.push({ iteration: end - 0.5, x });
  }
  return knots;
}

/** Bins of the part in place of those of the whole that overlap it. */
function merged(whole: readonly Bin[], part: readonly Bin[]): readonly Bin[] {
  const [first, last] = [part[0], part.at(-1)];
  if (first === undefined || last === undefined) return whole;
  return [
    ...whole.filter(({ to }) => to <= first.from),
    ...part,
    ...whole.filter(({ from }) => from >= last.to),
  ];
}

/** Knots that ascend in iterations, and never fall. */
function ascending(knots: readonly Knot[]): readonly Knot[] {
  const kept: Knot[] = [];
  for (const knot of knots) {
    const last = kept.at(-1);
    if (last === undefined) kept.push(knot);
    else if (knot.iteration > last.iteration)
      kept.push({ iteration: knot.iteration, x: Math.max(last.x, knot.x) });
  }
  return kept;
}
