/**
 * The parts of a predicted time: latency (α), bandwidth (β) and reduction (γ, merging and
 * scattering included). Costs are linear in the constants, so that the terms of any cost
 * function are its values with all other constants at 0: they add up exactly.
 */
import {
  betweenNodes,
  mergeSeconds,
  scatterSeconds,
  type NetworkCost,
  type LinkCost,
} from './network-cost.ts';

/** Seconds. */
export interface CostTerms {
  readonly latency: number;
  readonly bandwidth: number;
  readonly reduction: number;
}

export const NO_COST: CostTerms = { latency: 0, bandwidth: 0, reduction: 0 };

/** The terms of a cost that is linear in α, β and γ. */
export function costTerms(
  cost: (network: NetworkCost) => number,
  network: NetworkCost,
): CostTerms {
  const free: LinkCost = { ...network.between, alpha: 0, beta: 0 };
  const nothing = {
    alpha: 0,
    overhead: 0,
    beta: 0,
    gamma: 0,
    merge: 0,
    scatter: 0,
    between: free,
  };
  const { alpha, overhead = alpha, beta, rates, gamma } = network;
  const between = betweenNodes(network);
  return {
    latency: cost({
      ...nothing,
      alpha,
      overhead,
      between: { ...free, alpha: between.alpha },
    }),
    bandwidth: cost({
      ...nothing,
      beta,
      rates,
      between: { ...free, beta: between.beta },
    }),
    reduction: cost({
      ...nothing,
      gamma,
      merge: mergeSeconds(network),
      scatter: scatterSeconds(network),
    }),
  };
}

export function addTerms(a: CostTerms, b: CostTerms): CostTerms {
  return {
    latency: a.latency + b.latency,
    bandwidth: a.bandwidth + b.bandwidth,
    reduction: a.reduction + b.reduction,
  };
}

export const totalSeconds = ({ latency, bandwidth, reduction }: CostTerms): number =>
  latency + bandwidth + reduction;

/** The part of a training step that takes most of its time. */
export type StepBound =
  'compute' | 'compression' | 'latency' | 'bandwidth' | 'reduction';

/** @param step seconds; the first of equals counts */
export function boundBy(step: Readonly<Record<StepBound, number>>): StepBound {
  const bounds: readonly StepBound[] = [
    'compute',
    'compression',
    'latency',
    'bandwidth',
    'reduction',
  ];
  return bounds.reduce((most, bound) => (step[bound] > step[most] ? bound : most));
}
