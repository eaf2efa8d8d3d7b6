/**
 * Whether and when a run reached a target: at its first point that is at least as good. Costs
 * between the ends of bins are linear, so they are exact for runs of at most CURVE_BINS
 * iterations, and off by less than a bin for longer ones.
 */
import { hasEnded } from '../records/run-state.ts';
import { costAfter, type ComparedRun } from './compared-run.ts';
import { bestOf, isAsGood, pointsOf, type Quantity } from './quantity.ts';

/** The costs of some iterations. */
export interface Costs {
  readonly iterations: number;
  /** Passes over the training samples. */
  readonly passes?: number | undefined;
  /** Milliseconds of training time. */
  readonly time?: number | undefined;
  /** Bytes sent by a rank. */
  readonly bytes?: number | undefined;
}

export const COST_IDS = ['time', 'iterations', 'passes', 'bytes'] as const;
export type CostId = (typeof COST_IDS)[number];

/**
 * - `reached`: at these costs.
 * - `missed`: the run has ended without it.
 * - `open`: the run goes on and has not reached it yet.
 * - `unmeasured`: the quantity was never observed, or there is no target.
 */
export type Outcome =
  | {
      readonly kind: 'reached';
      readonly costs: Costs;
      /** Costs at the point before, which was not there yet. */
      readonly before: Costs;
      readonly value: number;
    }
  | { readonly kind: 'missed' | 'open' | 'unmeasured' };

/** The part of the way from the first to the best value at which the default target is. */
const FAR = 0.95;

export const costsAfter = (
  { curve, iterationsPerPass }: Pick<ComparedRun, 'curve' | 'iterationsPerPass'>,
  iterations: number,
): Costs => ({
  iterations,
  passes: iterationsPerPass === undefined ? undefined : iterations / iterationsPerPass,
  time: costAfter(curve, curve.time, iterations),
  bytes:
    curve.bytes === undefined ? undefined : costAfter(curve, curve.bytes, iterations),
});

export function outcomeOf(
  run: ComparedRun,
  quantity: Quantity,
  target: number | undefined,
): Outcome {
  const points = pointsOf(run, quantity.id);
  const ended = hasEnded(run.state);
  if (target === undefined) return { kind: 'unmeasured' };
  if (points.length === 0) return { kind: ended ? 'unmeasured' : 'open' };
  const place = points.findIndex(({ value }) => isAsGood(quantity, value, target));
  const first = points[place];
  if (first === undefined) return { kind: ended ? 'missed' : 'open' };
  return {
    kind: 'reached',
    costs: costsAfter(run, first.iterations),
    before: costsAfter(run, points[place - 1]?.iterations ?? 0),
    value: first.value,
  };
}

/**
 * The target if none is given: 95 % of the way from the worst first value to the best of all
 * runs, rounded towards what is easier, whole percents of a share and two figures of others, or
 * more where the worst first value would be as good.
 */
export function defaultTarget(
  runs: readonly ComparedRun[],
  quantity: Quantity,
): number | undefined {
  const curves = runs
    .map((run) => pointsOf(run, quantity.id))
    .filter((points) => points.length > 0);
  if (curves.length === 0) return undefined;
  const opposite = {
    better: quantity.better === 'higher' ? 'lower' : 'higher',
  } as const;
  const first = bestOf(
    opposite,
    curves.map((points) => points[0]!),
  )!;
  const best = bestOf(quantity, curves.flat())!;
  const target = first + FAR * (best - first);
  for (let more = 0; more < MOST_DIGITS; more++) {
    const rounded = easier(target, quantity, more);
    if (!isAsGood(quantity, first, rounded)) return rounded;
  }
  return easier(target, quantity, 0);
}

/** Digits that are added to a target until not every run begins there. */
const MOST_DIGITS = 6;

function easier(value: number, { better, format }: Quantity, more: number): number {
  if (value === 0) return 0;
  const usual = format === 'share' ? 2 : 1 - Math.floor(Math.log10(Math.abs(value)));
  const scale = 10 ** (usual + more);
  // A hair's tolerance, so that what is round already stays as it is.
  const scaled = value * scale;
  const rounded =
    better === 'higher' ? Math.floor(scaled + 1e-9) : Math.ceil(scaled - 1e-9);
  return rounded / scale;
}
