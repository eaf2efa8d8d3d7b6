/**
 * Corrects a network's constants from observed times. One time cannot tell α from β from γ,
 * so the constant whose term dominates the prediction is corrected, since an error there
 * explains most; exchanges of another shape, where another term dominates, correct the
 * others. Pure, so that ranks with the same observations get the same result.
 */
import { totalSeconds, type CostTerms } from './cost-terms.ts';
import {
  betweenNodes,
  mergeSeconds,
  scatterSeconds,
  type NetworkCost,
} from './network-cost.ts';

/** A prediction that is off by more than this share is wrong. */
const TOLERANCE = 0.2;

/** Whether what was observed differs from what was expected by more than `TOLERANCE`. */
export const isOff = (observed: number, expected: number): boolean =>
  Math.abs(observed - expected) > TOLERANCE * expected;

/** Factors on α, on β, and on γ and its kin. */
export type Correction = CostTerms;

export const UNCORRECTED: Correction = { latency: 1, bandwidth: 1, reduction: 1 };

/** The largest step, so that a pause of the machine does not pass for a slow network. */
const LARGEST_STEP = 10;

export function corrected(network: NetworkCost, correction: Correction): NetworkCost {
  const { latency, bandwidth, reduction } = correction;
  const between = betweenNodes(network);
  return {
    between: {
      ...network.between,
      alpha: between.alpha * latency,
      beta: between.beta * bandwidth,
    },
    alpha: network.alpha * latency,
    overhead: network.overhead && network.overhead * latency,
    beta: network.beta * bandwidth,
    rates: network.rates?.map(({ bytes, beta }) => ({ bytes, beta: beta * bandwidth })),
    gamma: network.gamma * reduction,
    merge: mergeSeconds(network) * reduction,
    scatter: scatterSeconds(network) * reduction,
    timed: network.timed,
  };
}

export const correctedTerms = (
  terms: CostTerms,
  correction: Correction,
): CostTerms => ({
  latency: terms.latency * correction.latency,
  bandwidth: terms.bandwidth * correction.bandwidth,
  reduction: terms.reduction * correction.reduction,
});

/**
 * The correction after an exchange of this duration, in seconds; unchanged if the
 * prediction was within `TOLERANCE`.
 * @param terms predicted without a correction
 */
export function correctionAfter(
  seconds: number,
  terms: CostTerms,
  before: Correction,
): Correction {
  const expected = correctedTerms(terms, before);
  const total = totalSeconds(expected);
  if (total === 0 || !isOff(seconds, total)) return before;
  const names = ['latency', 'bandwidth', 'reduction'] as const;
  const dominant = names.reduce((most, name) =>
    expected[name] > expected[most] ? name : most,
  );
  const rest = total - expected[dominant];
  const step = (seconds - rest) / expected[dominant];
  const bounded = Math.min(LARGEST_STEP, Math.max(1 / LARGEST_STEP, step));
  return { ...before, [dominant]: before[dominant] * bounded };
}
