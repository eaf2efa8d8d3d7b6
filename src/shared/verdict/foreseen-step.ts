/**
 * The step after a switch, before it is made: the current step as observed, with the observed
 * exchange and compression replaced by those that are predicted for the other plan.
 *
 * Both predictions are corrected by what this run shows. The constant of the network that
 * dominates the current exchange takes its error, as in the engine (`network-correction.ts`);
 * compression takes the ratio of its observed to its rehearsed time. The interval spans the
 * prediction without a correction, with that one and with the same factor on everything, and a
 * margin for the model on both sides: one observation cannot tell which constant is wrong. Where ranks share cores,
 * what the network does not explain of the current exchange may be waiting for these, which no payload shortens: the
 * prediction is the middle of both, and the interval has both. How much
 * of the other exchange computing would hide is between two bounds (`cost-model/hidden-exchange.ts`).
 */
import {
  correctedTerms,
  correctionAfter,
  UNCORRECTED,
} from '../cost-model/network-correction.ts';
import { totalSeconds } from '../cost-model/cost-terms.ts';
import { exposedOf } from '../cost-model/hidden-exchange.ts';
import type { ExchangeForecast } from '../cost-model/exchange-forecast.ts';
import type { Estimate } from '../numbers/mean-interval.ts';
import {
  formatBytes,
  formatDuration,
  formatFactor,
  formatWholePercent,
} from '../words/units.ts';
import { estimateText, term, type Proof } from './proof.ts';
import type { StepAccount } from './step-account.ts';
import { sumOfSeries } from './step-series.ts';
import type { WindowSummary } from './window-summary.ts';

/** Margin of the model on both sides: predictions within it count as right (docs/accuracy.md). */
export const MARGIN = 0.2;
/** A rehearsal on a machine that computes the run's steps, too, is off by as much at least. */
export const REHEARSAL_MARGIN = 0.4;
/** Compression below this is too short to take its ratio from; ms. */
const SHORT = 0.05;
const LARGEST_RATIO = 10;

export interface ForeseenStep {
  /** The current step, as observed; milliseconds, as all here. */
  readonly now: Estimate;
  readonly then: Estimate;
  /** Bytes of the payload of a rank, predicted for both plans alike. */
  readonly bytes: { readonly now: number; readonly then: number };
  readonly proof: Proof;
}

/** The window that the current step is observed in; `overlapped` is hidden behind computing. */
type Observed = Pick<WindowSummary, 'overlapped' | 'series'>;

interface Predicted {
  readonly now: ExchangeForecast;
  readonly then: ExchangeForecast;
}

export function foreseenStep(
  { overlapped, series }: Observed,
  account: StepAccount,
  { now, then }: Predicted,
): ForeseenStep {
  const { step } = account;
  const count = series.step.length;
  const exchange =
    (sumOfSeries(series.exchange) + sumOfSeries(series.parts.reduction)) / count;
  const compression = sumOfSeries(series.parts.compression) / count;
  const exposed = exchange + compression;
  const rest = step.mean - exposed;

  // What is hidden is part of the exchange, too.
  const observed = exchange + overlapped;
  const corrected = correctedExchange(observed, now, then);
  const nextExchange = account.isCrowded
    ? withCoreWait(corrected, observed, { now, then })
    : corrected;
  const nextCompression = correctedCompression(
    compression,
    now,
    then,
    account.coreWait,
  );
  const hidden = { exposed, hidden: overlapped };
  const shown = (time: number): Estimate => exposedOf(time, hidden);
  const noise = step.high - step.mean;
  const [least, mean, most] = (['low', 'mean', 'high'] as const).map(
    (end) => rest + shown(nextExchange[end] + nextCompression[end])[end],
  );
  const estimate: Estimate = {
    mean: mean!,
    // What stays is not shorter than it was, and a few uneven steps leave its mean in doubt beyond zero.
    low: Math.max(0, Math.min(rest, step.low), least! - noise),
    high: most! + noise,
  };
  return {
    now: step,
    then: estimate,
    bytes: { now: now.payloadBytes, then: then.payloadBytes },
    proof: {
      formula:
        'step − exchange − compression as observed + exchange and compression as predicted, corrected by the ratio of observed to predicted under the current plan; ' +
        `the range is no confidence interval: it spans the prediction with and without the correction, and ${formatWholePercent(MARGIN)} more on both sides, ${formatWholePercent(REHEARSAL_MARGIN)} for compression`,
      terms: [
        term('step now', estimateText(step)),
        term('exchange now', formatDuration(exchange)),
        term('compression now', formatDuration(compression)),
        ...(overlapped > 0
          ? [term('exchange hidden behind computing', formatDuration(overlapped))]
          : []),
        term('exchange now, predicted', formatDuration(1000 * totalSeconds(now))),
        term('compression now, as rehearsed there', formatDuration(rehearsed(now))),
        term('exchange then', estimateText(nextExchange)),
        term('compression then', estimateText(nextCompression)),
        term('payload now', formatBytes(now.payloadBytes)),
        term('payload then', formatBytes(then.payloadBytes)),
        term('collective then', then.collective),
      ],
    },
  };
}

/** Milliseconds of compressing and decompressing, as rehearsed. */
const rehearsed = ({ compress, decompress }: ExchangeForecast): number =>
  1000 * (compress + decompress);

function correctedExchange(
  observed: number,
  now: ExchangeForecast,
  then: ExchangeForecast,
): Estimate {
  const plain = 1000 * totalSeconds(then);
  const predicted = 1000 * totalSeconds(now);
  const correction = correctionAfter(observed / 1000, now, UNCORRECTED);
  const corrected = (terms: ExchangeForecast): number =>
    1000 * totalSeconds(correctedTerms(terms, correction));
  const mean = corrected(then);
  const ratio = predicted > 0 ? bounded(observed / predicted) : 1;
  // What even the largest correction does not explain is no matter of bytes, and stays.
  const unexplained = Math.max(
    0,
    observed - Math.max(corrected(now), ratio * predicted),
  );
  const { high, low } = spanned(mean, [plain, plain * ratio], MARGIN);
  return { low, mean: mean + unexplained, high: high + unexplained };
}

/** The exchange where the observed one may have waited for cores, as the other one then will. */
function withCoreWait(
  corrected: Estimate,
  observed: number,
  { now, then }: Predicted,
): Estimate {
  const excess = Math.max(0, observed - 1000 * totalSeconds(now));
  const waiting = 1000 * totalSeconds(then) + excess;
  return {
    low: Math.min(corrected.low, waiting * (1 - MARGIN)),
    mean: (corrected.mean + waiting) / 2,
    high: Math.max(corrected.high, waiting * (1 + MARGIN)),
  };
}

function correctedCompression(
  observed: number,
  now: ExchangeForecast,
  then: ExchangeForecast,
  coreWait: number,
): Estimate {
  const plain = rehearsed(then);
  const before = rehearsed(now);
  // Dense gradients are hardly compressed: only crowded cores are known to slow it down.
  const ratio =
    Math.min(observed, before) > SHORT
      ? bounded(observed / before)
      : 1 / Math.max(1 / LARGEST_RATIO, 1 - coreWait);
  return spanned(plain * ratio, [plain], REHEARSAL_MARGIN);
}

const bounded = (ratio: number): number =>
  Math.min(LARGEST_RATIO, Math.max(1 / LARGEST_RATIO, ratio));

function spanned(mean: number, others: readonly number[], margin: number): Estimate {
  const all = [mean, ...others];
  return {
    mean,
    low: Math.min(...all) * (1 - margin),
    high: Math.max(...all) * (1 + margin),
  };
}

/** Whether the step is predicted to change beyond doubt. */
function isClear({ now, then }: Pick<ForeseenStep, 'now' | 'then'>): boolean {
  return then.high < now.mean || then.low > now.mean;
}

/** `a step would take about 8.20 ms (7.10 ms–9.90 ms) instead of 12.4 ms: 1.51× as fast` */
export function foreseenText(foreseen: ForeseenStep): string {
  const { now, then } = foreseen;
  const factor = now.mean / then.mean;
  const outcome = isClear(foreseen)
    ? factor >= 1
      ? `${formatFactor(factor)} as fast`
      : `${formatFactor(1 / factor)} as slow; do not switch for speed`
    : 'no clear difference';
  return `a step would take about ${estimateText(then)} instead of ${formatDuration(now.mean)}: ${outcome}`;
}
