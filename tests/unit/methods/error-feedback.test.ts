/**
 * The invariant of error feedback: wᵗ − η·avg(mᵗ) = w⁰ − η·Σ avg(∇). Nothing is lost:
 * what was not sent is in the residuals. For every method that keeps one in gradient
 * units.
 */
import { describe, expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld, type WorldOptions } from './simulated-world.ts';

/** Where defaults would send all, or sum something else than gradients. */
const SETTINGS: Readonly<Record<string, Pick<WorldOptions, 'parameters' | 'tensors'>>> =
  {
    threshold: { parameters: { threshold: 1 } },
    dgc: { parameters: { momentum: 0 } },
    onebit: { parameters: { minElements: 0 } },
    powersgd: {
      tensors: [
        { name: 'matrix', start: 0, length: 800, shape: [20, 40] },
        { name: 'vector', start: 800, length: 200, shape: [200] },
      ],
    },
  };

const keeping = [...methods.values()].filter(({ residual }) => residual === 'gradient');

/** Methods whose payloads a collective may sum in part (`ok-topk`). */
const partly = keeping.filter(
  ({ payload, reducible }) => payload === 'sparse' && reducible,
);

describe.each(keeping.map(({ id }) => id))('%s', (method) => {
  it.each([1, 3, 4])('loses nothing in 40 iterations at P = %i', async (ranks) => {
    await expectNothingLost({ method, ranks });
  });
});

describe.each(partly.map(({ id }) => id))('%s of partial sums', (method) => {
  it.each([2, 3, 4])('loses nothing in 40 iterations at P = %i', async (ranks) => {
    // Of 10 or more entries that a rank sends: the rest comes back to those who sent it.
    const { sent, kept } = await expectNothingLost({
      method,
      ranks,
      form: 'sparse',
      most: 7,
    });
    expect(kept).toEqual(new Array(40).fill(7));
    expect(sent.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(280 * ranks);
  });
});

async function expectNothingLost(
  options: Pick<WorldOptions, 'method' | 'ranks' | 'form' | 'most'>,
): Promise<{ sent: number[]; kept: unknown[] }> {
  const { method, ranks: P } = options;
  const length = 1000;
  const world = new SimulatedWorld({
    ...SETTINGS[method],
    ...options,
    length,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
  const η = 0.05;
  const weights = new Float64Array(length);
  const uncompressed = new Float64Array(length);
  const sent: number[] = [];
  const kept: unknown[] = [];
  for (let iteration = 0; iteration < 40; iteration++) {
    const gradients = Array.from({ length: P }, (_, rank) =>
      bellShaped(length, 1 + 100 * iteration + rank),
    );
    const [result] = await world.exchange(iteration, gradients);
    for (let i = 0; i < length; i++) {
      weights[i]! -= η * result![i]!;
      for (const gradient of gradients) uncompressed[i]! -= (η * gradient[i]!) / P;
    }
    sent.push(...world.statistics.map(({ nnzLocal }) => nnzLocal ?? 0));
    kept.push(world.statistics[0]!.nnzReduced);
  }
  const residuals = Array.from({ length: P }, (_, rank) => world.residual(rank));
  const whole = weights.map(
    (weight, i) =>
      weight - (η * residuals.reduce((sum, residual) => sum + residual[i]!, 0)) / P,
  );
  expect(norm(whole.map((value, i) => value - uncompressed[i]!))).toBeLessThan(
    1e-5 * norm(uncompressed),
  );
  // Without the residuals the sums are far apart: the invariant is not empty.
  expect(norm(weights.map((value, i) => value - uncompressed[i]!))).toBeGreaterThan(
    0.1 * norm(uncompressed),
  );
  return { sent, kept };
}

function norm(x: Float64Array): number {
  return Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
}
