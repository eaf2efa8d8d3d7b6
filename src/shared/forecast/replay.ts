/**
 * Replays recorded iterations as if they had been exchanged otherwise: by another method, ratio
 * or collective, over another network, among other ranks. What an iteration computed stays as it
 * was observed, and so does what the model does not explain (waiting for a busy core, a pause of
 * the machine); the model gives the difference.
 *
 *     own        the slowest rank's data, gradient, update and what is not attributed
 *     exchange   wall − own − compress − decompress, mean over ranks, and what computing hides
 *     exchange′  exchange + c·(predicted′ − predicted), at least min(exchange, c·predicted′)
 *     compress′  compress + s·(rehearsed′ − rehearsed), at least s·rehearsed′ or what was observed
 *
 * c corrects the constant that dominates the prediction, as `adaptive` does
 * (`cost-model/network-correction.ts`); s is how much slower methods ran than in the rehearsal. An
 * iteration that is replayed under its own plan is therefore itself. What computing hides of a
 * program's exchange is not in the step; how much of another one it would hide is between two bounds
 * (`cost-model/hidden-exchange.ts`).
 */
import {
  correctedTerms,
  correctionAfter,
  UNCORRECTED,
  type Correction,
} from '../cost-model/network-correction.ts';
import { totalSeconds } from '../cost-model/cost-terms.ts';
import { exposedOf } from '../cost-model/hidden-exchange.ts';
import { meanInterval } from '../numbers/mean-interval.ts';
import type { StepForecast } from './candidate.ts';

/** An iteration's parts in ms, over all its ranks; they add up to its wall time. */
export interface StepSplit {
  readonly own: number;
  readonly compress: number;
  readonly exchange: number;
  readonly decompress: number;
}

export interface RecordedStep extends StepSplit {
  readonly iteration: number;
  /** Milliseconds of the exchange that computing hid, in no part of the step; default: 0. */
  readonly hidden?: number | undefined;
}

/** A mean in ms and its 95 % interval. */
export interface ReplayedMean {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface Replay {
  /** The same iterations, replayed. */
  readonly steps: readonly RecordedStep[];
  /** Means of the wall time. */
  readonly recorded: ReplayedMean;
  readonly replayed: ReplayedMean;
  /** Replayed minus recorded, in ms. */
  readonly change: ReplayedMean;
}

/** Predictions of one plan in one world; seconds. */
export type Predicted = Pick<StepForecast, 'compress' | 'decompress' | 'terms'>;

/** Factors by which a network and the methods were slower in a run than predicted. */
export interface Calibration {
  readonly network: Correction;
  /** Factor on rehearsed times. */
  readonly methods: number;
}

/**
 * The part of what a prediction adds that it may be wrong by: the goal to which the model is held
 * (docs/benchmarks.md).
 */
export const MODEL_ERROR = 0.25;

/** Compression below this is too short to take a pace from: an uncompressed exchange has hardly any; seconds. */
const SHORT = 50e-6;
/** The most by which methods may run slower or faster in a run than alone. */
const MOST_PACE = 10;

export const wallOf = ({ own, compress, exchange, decompress }: StepSplit): number =>
  own + compress + exchange + decompress;

/**
 * The calibration for a network that is named: its constants are told, so that what a run shows of another one does
 * not correct them.
 */
export const toldNetwork = ({ methods }: Calibration): Calibration => ({
  network: UNCORRECTED,
  methods,
});

/** @param steps recorded under the plan and in the world of the prediction; at least one */
export function calibrate(
  steps: readonly (StepSplit & Pick<RecordedStep, 'hidden'>)[],
  predicted: Predicted,
): Calibration {
  const exchange =
    meanOf(steps.map((step) => step.exchange + (step.hidden ?? 0))) / 1000;
  const observed = meanOf(steps.map((step) => step.compress + step.decompress)) / 1000;
  const rehearsed = predicted.compress + predicted.decompress;
  const pace = Math.min(observed, rehearsed) < SHORT ? 1 : observed / rehearsed;
  return {
    network: correctionAfter(exchange, predicted.terms, UNCORRECTED),
    methods: Math.min(MOST_PACE, Math.max(1 / MOST_PACE, pace)),
  };
}

export interface ReplaySetting {
  /** The part of what the model adds that it may be wrong by; default: `MODEL_ERROR`. */
  readonly error?: number | undefined;
  /** Whether the other prediction is of one rank, which exchanges nothing. */
  readonly isAlone?: boolean | undefined;
}

/** @param steps recorded under the first prediction; at least one */
export function replay(
  steps: readonly RecordedStep[],
  own: Predicted,
  other: Predicted,
  calibration: Calibration,
  { error = MODEL_ERROR, isAlone = false }: ReplaySetting = {},
): Replay {
  const { methods, network } = calibration;
  const seconds = ({ terms }: Predicted): number =>
    totalSeconds(correctedTerms(terms, network));
  const [before, after] = [1000 * seconds(own), 1000 * seconds(other)];
  const paced = (part: 'compress' | 'decompress'): readonly [number, number] => [
    1000 * methods * own[part],
    1000 * methods * other[part],
  ];
  const [compress, decompress] = [paced('compress'), paced('decompress')];
  let doubtOfHidden = 0;
  const replayed = steps.map((step): RecordedStep => {
    const { exchange: exposed, hidden = 0, iteration, own: kept } = step;
    const time = isAlone ? 0 : moved(exposed + hidden, before, after);
    const { high, low, mean } = exposedOf(time, { exposed, hidden });
    doubtOfHidden += (high - low) / 2 / steps.length;
    return {
      iteration,
      own: kept,
      compress: moved(step.compress, ...compress),
      exchange: mean,
      decompress: moved(step.decompress, ...decompress),
    };
  });
  const walls = steps.map(wallOf);
  const changes = replayed.map((step, index) => wallOf(step) - walls[index]!);
  const doubt =
    doubtOfHidden +
    error *
      (Math.abs(after - before) +
        Math.abs(compress[1] - compress[0]) +
        Math.abs(decompress[1] - decompress[0]));
  return {
    steps: replayed,
    recorded: meanInterval(walls),
    replayed: widened(meanInterval(replayed.map(wallOf)), doubt),
    change: widened(meanInterval(changes), doubt),
  };
}

/** An observed time after what is predicted of it has changed. */
function moved(observed: number, before: number, after: number): number {
  return Math.max(Math.min(observed, after), observed + (after - before));
}

const widened = ({ mean, low, high }: ReplayedMean, by: number): ReplayedMean => ({
  mean,
  low: low - by,
  high: high + by,
});

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
