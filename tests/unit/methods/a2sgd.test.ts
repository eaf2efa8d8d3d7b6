import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends, bytes } from '../kernels/backends.ts';
import { SimulatedWorld, type WorldOptions } from './simulated-world.ts';

function worldOf(options: Partial<WorldOptions> & { length: number }): SimulatedWorld {
  return new SimulatedWorld({
    method: 'a2sgd',
    ranks: 1,
    makeKernels: (arena) => backends.wasm(arena).kernels,
    ...options,
  });
}

describe('a2sgd', () => {
  it('gives a single rank its gradient back, bit for bit', async () => {
    const finite = fc.oneof(
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, -0, 2 ** -149, -(2 ** -149)),
    );
    const modes = fc.constantFrom('allreduce', 'allgather');
    await fc.assert(
      fc.asyncProperty(fc.array(finite, { maxLength: 50 }), modes, async (x, mode) => {
        const gradient = Float32Array.from(x);
        const world = worldOf({ length: x.length, parameters: { mode } });
        const [result] = await world.exchange(0, [gradient]);
        expect(bytes(result!).equals(bytes(gradient))).toBe(true);
      }),
    );
  });

  it('gives the entries of each sign the averaged mean, and keeps their deviations', async () => {
    const P = 4;
    const n = 5003;
    const gradients = Array.from({ length: P }, (_, rank) =>
      bellShaped(n, rank + 1).map((value) => value * (rank + 1) + 0.1 * rank),
    );
    const means = gradients.map((gradient) => meansBySign(gradient, gradient));
    const results = await worldOf({ ranks: P, length: n }).exchange(0, gradients);
    const plus = mean(means.map((one) => one.plus));
    const minus = mean(means.map((one) => one.minus));
    results.forEach((result, rank) => {
      const after = meansBySign(result, gradients[rank]!);
      expect(after.plus).toBeCloseTo(plus, 5);
      expect(after.minus).toBeCloseTo(minus, 5);
      const spread = (x: Float32Array, by: typeof after): number =>
        Math.hypot(
          ...x.map((v, i) => (gradients[rank]![i]! >= 0 ? v - by.plus : v - by.minus)),
        );
      expect(spread(result, after)).toBeCloseTo(
        spread(gradients[rank]!, means[rank]!),
        3,
      );
    });
  });

  it('has no NaN where a rank has no entry of one sign', async () => {
    const results = await worldOf({ ranks: 2, length: 2 }).exchange(0, [
      [4, 2],
      [-8, -8],
    ]);
    // μ̄₊ = 3/2, μ̄₋ = 8/2: moved by −3/2 and up by 4.
    expect(results.map((result) => [...result])).toEqual([
      [2.5, 0.5],
      [-4, -4],
    ]);
  });

  it('sends 8 bytes for the model, for each bucket or for each tensor', async () => {
    const tensors = [3, 4, 5].map((length, i) => ({
      name: `t${i}`,
      start: [0, 3, 7][i]!,
      length,
      shape: [length],
    }));
    for (const [granularity, expected] of [
      ['model', 8],
      ['bucket', 8],
      ['tensor', 24],
    ] as const) {
      const world = worldOf({ length: 12, tensors, parameters: { granularity } });
      await world.exchange(0, [bellShaped(12)]);
      expect(world.sent[0]!.length).toBe(expected);
    }
  });

  it('gives the same whether the means are summed or gathered', async () => {
    const gradients = [1, 2].map((seed) => bellShaped(999, seed));
    const [reduced, gathered] = await Promise.all(
      ['allreduce', 'allgather'].map((mode) =>
        worldOf({ ranks: 2, length: 999, parameters: { mode } }).exchange(0, gradients),
      ),
    );
    reduced!.forEach((result, rank) => {
      // The sum on the way is f32, the sum of what was gathered f64.
      const far = result.findIndex((v, i) => Math.abs(v - gathered![rank]![i]!) > 2e-7);
      expect(far).toBe(-1);
      expect(bytes(result).equals(bytes(gradients[rank]!))).toBe(false);
    });
  });
});

/** Means of x, signed, over the entries where `signs` ≥ 0 and where it is < 0. */
function meansBySign(
  x: Float32Array,
  signs: Float32Array,
): { plus: number; minus: number } {
  return {
    plus: mean([...x].filter((_, i) => signs[i]! >= 0)),
    minus: mean([...x].filter((_, i) => signs[i]! < 0)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
