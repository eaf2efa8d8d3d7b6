/**
 * Sparsifiers and low-rank factors on the inputs that break careless code: whatever the
 * size and the values, both backends send the same bytes, nothing is lost and nothing
 * that was not there appears.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/json.ts';
import { INPUTS, SIZES } from '../kernels/adversarial-inputs.ts';
import { backends, bytes } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const METHODS: readonly (readonly [string, JsonObject])[] = [
  ['topk', { ratio: 0.05, bucket: 100 }],
  ['randomk', { ratio: 0.05 }],
  ['threshold', { threshold: 0.7 }],
  ['gaussiank', { ratio: 0.05 }],
  ['dct', { ratio: 0.05, lifeSpan: 2 }],
  ['dgc', { ratio: 0.05, clip: 3 }],
  ['scalecom', { ratio: 0.05 }],
  ['powersgd', { rank: 3 }],
];

const sizes = SIZES.filter((n) => n < 1e5);

describe.each(METHODS)('%s %j', (method, parameters) => {
  const worldOf = (length: number, backend: keyof typeof backends): SimulatedWorld =>
    new SimulatedWorld({
      method,
      parameters,
      ranks: 2,
      length,
      tensors: [
        { name: 'w', start: 0, length, shape: length % 3 ? [length] : [3, length / 3] },
      ],
      makeKernels: (arena) => backends[backend](arena).kernels,
    });

  it.each(Object.keys(INPUTS))('%s', async (name) => {
    for (const n of sizes) {
      const x = INPUTS[name]!(n);
      const gradients = [x, x.map((value) => -value)];
      const worlds = [worldOf(n, 'reference'), worldOf(n, 'wasm')] as const;
      for (let iteration = 0; iteration < 3; iteration++) {
        const [expected, actual] = await Promise.all(
          worlds.map(async (world) => await world.exchange(iteration, gradients)),
        );
        expect(bytes(actual![1]!).equals(bytes(actual![0]!))).toBe(true);
        expect(actual![0]!.every(Number.isFinite)).toBe(true);
        // Only products of matrices add up in another order.
        if (method === 'powersgd') continue;
        expect(bytes(actual![0]!).equals(bytes(expected![0]!))).toBe(true);
        expect(worlds[1].sent).toEqual(worlds[0].sent);
        for (const rank of [0, 1]) {
          expect(worlds[1].residual(rank)).toEqual(worlds[0].residual(rank));
        }
      }
    }
  });
});
