/**
 * The constants of an emulated network: its own latency and bandwidth where they are worse
 * than those of the real network, which still carries the bytes. Messages that leave at once
 * share one latency, and reductions do not change. Measured times of collectives come from
 * another network and do not apply.
 */
import { secondsPerByte, type EmulatedLink } from '../machines/emulated-network.ts';
import type { SlowestLinks } from '../spec/emulated-links.ts';
import { LOOPBACK, type NetworkCost, type LinkCost } from './network-cost.ts';

/**
 * Constants of ranks on one node or several. Every rank has its own emulated links, to other
 * nodes too.
 * @param beneath the constants of the same ranks on the real network; default: loopback
 */
export function emulatedCosts(
  { within, between }: SlowestLinks,
  beneath: NetworkCost = LOOPBACK,
): NetworkCost {
  const cost = within === undefined ? beneath : emulatedCost(within, beneath);
  if (between === undefined) return cost;
  // A real link that was not measured is assumed to be fast enough.
  const { alpha, beta }: LinkCost = beneath.between ?? beneath;
  return {
    ...cost,
    timed: undefined,
    between: {
      alpha: alpha + between.latency / 1000,
      beta: Math.max(secondsPerByte(between), beta),
      perRank: true,
    },
  };
}

/** @param beneath the constants of the same ranks on the real network; default: loopback */
export function emulatedCost(
  network: EmulatedLink,
  beneath: NetworkCost = LOOPBACK,
): NetworkCost {
  const { alpha, overhead = alpha, rates } = beneath;
  const beta = secondsPerByte(network);
  return {
    ...beneath,
    alpha: alpha + network.latency / 1000,
    overhead,
    beta: Math.max(beta, beneath.beta),
    rates: rates?.map((rate) => ({ ...rate, beta: Math.max(beta, rate.beta) })),
    timed: undefined,
  };
}
