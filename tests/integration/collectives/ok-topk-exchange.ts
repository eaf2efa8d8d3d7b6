/** Exchanges of `ok-topk`, and vectors for them. */
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { generator, runCollective, type Outcome } from './run-collective.ts';

export const okTopk = findCollective('ok-topk');

export const exchange = (
  communicators: readonly TransportCommunicator[],
  inputs: readonly Float32Array[],
): Promise<Outcome[]> => runCollective(okTopk, communicators, 'sparse', inputs);

/** k entries at places drawn by lot from [from, to). */
export function scattered(
  seed: number,
  length: number,
  k: number,
  [from, to] = [0, length],
): Float32Array {
  const random = generator(seed);
  const values = new Float32Array(length);
  for (let left = k; left > 0;) {
    const index = from + Math.floor(random() * (to - from));
    if (values[index] !== 0) continue;
    values[index] = Math.ceil(random() * 1000) * (random() < 0.5 ? -1 : 1);
    left--;
  }
  return values;
}
