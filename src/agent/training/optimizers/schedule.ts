/**
 * The learning rate over a run of T iterations: a gradual warm-up over the first W, then a decay
 * over the rest (Goyal et al., "Accurate, Large Minibatch SGD", 2017). After the warm-up every
 * schedule gives the full rate; `linear`, `cosine` and `polynomial` reach 0 at t = T, which is one
 * past the last iteration, so that no step is lost.
 */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { cos, power as raised } from '../../../shared/numbers/portable-math.ts';

export type ScheduleSettings = Pick<ExperimentSpec['optimizer'], 'lr' | 'schedule'> &
  Partial<
    Pick<
      ExperimentSpec['optimizer'],
      'decayAt' | 'decayFactor' | 'power' | 'scaleWithRanks' | 'warmupIterations'
    >
  >;

const DECAY_FACTOR = 0.1;
const POWER = 2;

export interface ScheduleLength {
  readonly iterations: number;
  readonly ranks: number;
}

export function scheduledRate(
  settings: ScheduleSettings,
  iteration: number,
  { iterations, ranks }: ScheduleLength,
): number {
  const { lr, scaleWithRanks = false, warmupIterations = 0 } = settings;
  const full = scaleWithRanks ? lr * ranks : lr;
  if (iteration < warmupIterations) {
    // Scaled, it begins with the first step above the rate of one rank; else above 0.
    const start = scaleWithRanks ? lr : 0;
    return start + ((full - start) * (iteration + 1)) / warmupIterations;
  }
  const rest = Math.max(1, iterations - warmupIterations);
  const share = Math.min(1, (iteration - warmupIterations) / rest);
  return decayed(full, share, iteration, settings);
}

function decayed(
  rate: number,
  share: number,
  iteration: number,
  {
    schedule,
    decayAt = [],
    decayFactor = DECAY_FACTOR,
    power = POWER,
  }: ScheduleSettings,
): number {
  switch (schedule) {
    case 'constant':
      return rate;
    case 'linear':
      return rate * (1 - share);
    case 'cosine':
      return (rate * (1 + cos(Math.PI * share))) / 2;
    case 'polynomial':
      return rate * raised(1 - share, power);
    case 'step':
      return rate * raised(decayFactor, decayAt.filter((at) => iteration >= at).length);
  }
}
