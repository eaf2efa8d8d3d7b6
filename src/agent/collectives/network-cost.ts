/**
 * The α–β–γ constants that `auto` uses before a network has been measured: loopback on
 * `node:net`, as on the machine where the transport was first timed (83 µs round trip
 * blocking, so about 60 µs a message in a collective; 1.5 GB/s a stream; 0.3 ns an
 * element added by the SIMD kernels).
 */
import type { NetworkCost } from './collective.ts';

export const LOOPBACK: NetworkCost = {
  alpha: 60e-6,
  beta: 1 / 1.5e9,
  gamma: 0.3e-9,
};
