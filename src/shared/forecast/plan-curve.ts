/**
 * Step time over bandwidth or ranks, for the best collective of each plan, and where compression
 * begins or ceases to pay. Between two points a crossing is where the logarithm of the ratio of
 * both steps is 0, linear in the logarithm of x.
 */
import { bestOfEach, type Candidate } from './candidate.ts';
import type { CurveAxis } from './plan-request.ts';

export interface PlanSeries {
  /** The method; `own` is the spec's plan. */
  readonly key: string;
  readonly label: string;
  readonly uncompressed: boolean;
  /** Seconds, by point. */
  readonly steps: readonly number[];
}

export interface Crossing {
  readonly x: number;
  /** The side of x on which the plan is faster than the best uncompressed exchange. */
  readonly pays: 'below' | 'above';
  readonly key: string;
}

export interface PlanCurve {
  readonly axis: CurveAxis;
  /** Bit/s or ranks, ascending. */
  readonly xs: readonly number[];
  /** The best uncompressed exchange first. */
  readonly series: readonly PlanSeries[];
  readonly crossings: readonly Crossing[];
}

/** Key of the best uncompressed exchange. */
export const DENSE_KEY = 'dense';

/** @param worlds candidates by point, fastest first, of the same plans at each */
export function planCurve(
  axis: CurveAxis,
  xs: readonly number[],
  worlds: readonly (readonly Candidate[])[],
): PlanCurve {
  const [first = []] = worlds;
  const dense: PlanSeries = {
    key: DENSE_KEY,
    label: 'without compression',
    uncompressed: true,
    steps: worlds.map((each) => fastest(each, ({ uncompressed }) => uncompressed)),
  };
  const others = bestOfEach(first)
    .filter(({ uncompressed }) => !uncompressed)
    .map((candidate): PlanSeries => {
      const { label, method, own } = candidate;
      return {
        key: own ? 'own' : method,
        label,
        uncompressed: false,
        steps: worlds.map((each) =>
          fastest(each, (other) =>
            own ? other.own : other.method === method && !other.own,
          ),
        ),
      };
    });
  return {
    axis,
    xs,
    series: [dense, ...others],
    crossings: others.flatMap((series) => crossingsOf(xs, dense, series)),
  };
}

const fastest = (
  candidates: readonly Candidate[],
  fits: (candidate: Candidate) => boolean,
): number => candidates.find(fits)?.step ?? NaN;

export function crossingsOf(
  xs: readonly number[],
  dense: Pick<PlanSeries, 'steps'>,
  { key, steps }: Pick<PlanSeries, 'key' | 'steps'>,
): readonly Crossing[] {
  const gains = steps.map((step, index) => Math.log(dense.steps[index]! / step));
  return gains.slice(1).flatMap((gain, index): readonly Crossing[] => {
    const before = gains[index]!;
    if (before > 0 === gain > 0 || Number.isNaN(before) || Number.isNaN(gain))
      return [];
    const [from, to] = [Math.log(xs[index]!), Math.log(xs[index + 1]!)];
    const x = Math.exp(from + ((to - from) * before) / (before - gain));
    return [{ x, pays: gain > 0 ? 'above' : 'below', key }];
  });
}
