/**
 * The number of entries that a sparsifier sends at an iteration. The ratio is constant,
 * or falls exponentially to its value in a ramp, as in DGC's warm-up, from a mild initial
 * ratio. Pure functions of the parameters and the iteration, so that all ranks agree.
 *
 * Source of the ramp: Deep Gradient Compression (Lin et al., ICLR 2018), section 3.3.
 */
import { z } from 'zod';
import { passesParameter } from './passes.ts';
import { startParameter } from './starts.ts';
import { power } from '../../../shared/numbers/portable-math.ts';

export const ratioParameters = {
  ratio: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.01)
    .describe('Fraction of the elements to send, k/N; at least one per bucket'),
};

export const rampParameters = {
  rampIterations: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe(
      'Iterations over which the ratio falls exponentially to its value; 0: none',
    ),
  rampEpochs: passesParameter('rampIterations'),
  rampStart: startParameter('ramp'),
  rampFrom: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('The ratio at the start of the ramp; 0: a quarter, as in DGC'),
};

/** `1 %`, or `k=5` where the number of entries is given. */
export const shareLabel = ({
  ratio,
  k = 0,
}: {
  readonly ratio: number;
  readonly k?: number;
}): string => (k > 0 ? `k=${k}` : `${Number((ratio * 100).toPrecision(3))} %`);

/** The ratio and its ramp do nothing where k is given. */
export const ratioBesideK = ['ratio', 'rampIterations', 'rampEpochs'].map(
  (parameter) => ({
    parameter,
    beside: 'k',
    when: ({ k }: { readonly k: number }) => k > 0,
    instead: 'k=0',
  }),
);

const DGC_START = 0.25;

export interface RatioSchedule {
  readonly ratio: number;
  readonly rampIterations: number;
  readonly rampFrom: number;
  /** The iteration at which the ramp begins; 0 by default. */
  readonly rampStart?: number | undefined;
  /** Length of the warm-up; if one is under way at its start, the ramp begins at its end. */
  readonly warmupIterations?: number | undefined;
  readonly warmupStart?: number | undefined;
}

export function ratioAt(schedule: RatioSchedule, iteration: number): number {
  const { ratio, rampIterations } = schedule;
  const step = iteration - rampBegin(schedule);
  if (rampIterations === 0 || step >= rampIterations) return ratio;
  const start = rampTop(schedule);
  return start * power(ratio / start, Math.max(0, step) / rampIterations);
}

function rampBegin(schedule: RatioSchedule): number {
  const { rampStart = 0, warmupIterations = 0, warmupStart = 0 } = schedule;
  const warm = warmupStart + warmupIterations;
  return warmupStart <= rampStart && rampStart < warm ? warm : rampStart;
}

/** The largest ratio of any iteration, which sets the memory needed. */
export function largestRatio(schedule: RatioSchedule): number {
  const { ratio, rampIterations } = schedule;
  return rampIterations > 0 ? Math.max(ratio, rampTop(schedule)) : ratio;
}

function rampTop({ rampFrom }: RatioSchedule): number {
  return rampFrom > 0 ? rampFrom : DGC_START;
}

/** Entries sent of n: k if given, otherwise the ratio's share; at least one. */
export function entriesSent(
  n: number,
  { ratio, k = 0 }: { readonly ratio: number; readonly k?: number },
): number {
  return Math.min(n, k > 0 ? k : Math.max(1, Math.round(ratio * n)));
}
