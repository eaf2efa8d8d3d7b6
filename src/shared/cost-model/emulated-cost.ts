/**
 * What an emulated network costs: its own latency and bandwidth where they are worse than
 * those of the network beneath it, which carries the bytes all the same. Messages that
 * leave at once have a latency between them, and reductions do not change. What collectives
 * were seen to take was on another network, and does not apply to this one.
 */
import { secondsPerByte, type EmulatedNetwork } from '../emulated-network.ts';
import { LOOPBACK, type NetworkCost } from './network-cost.ts';

/** @param beneath of the same ranks on the real network; default: loopback, not measured */
export function emulatedCost(
  network: EmulatedNetwork,
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
