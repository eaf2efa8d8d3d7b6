/**
 * What an emulated network costs: its own latency and bandwidth where they are worse than
 * those of the network beneath it, which carries the bytes all the same. Messages that
 * leave at once have a latency between them, and reductions do not change. What collectives
 * were seen to take was on another network, and does not apply to this one.
 */
import { secondsPerByte, type EmulatedLink } from '../emulated-network.ts';
import type { SlowestLinks } from '../emulated-links.ts';
import { LOOPBACK, type NetworkCost, type NodeLink } from './network-cost.ts';

/**
 * Of ranks on one node or several. Every rank has emulated links of its own, to other nodes
 * too.
 * @param beneath of the same ranks on the real network; default: loopback, not measured
 */
export function emulatedCosts(
  { within, between }: SlowestLinks,
  beneath: NetworkCost = LOOPBACK,
): NetworkCost {
  const cost = within === undefined ? beneath : emulatedCost(within, beneath);
  if (between === undefined) return cost;
  // Where the real link was not measured it is taken to carry what is asked of it.
  const { alpha, beta }: NodeLink = beneath.between ?? beneath;
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

/** @param beneath of the same ranks on the real network; default: loopback, not measured */
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
