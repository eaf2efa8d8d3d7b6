/** DGC: momentum that waits with the entries it belongs to. */
import { describe, expect, it } from 'vitest';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const worldOf = (
  length: number,
  parameters: Record<string, number | boolean>,
  ranks = 1,
): SimulatedWorld =>
  new SimulatedWorld({
    method: 'dgc',
    parameters,
    ranks,
    length,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });

describe('dgc', () => {
  it('holds back a sum of velocities, so that what waits has the momentum of SGD', async () => {
    const n = 50;
    const world = worldOf(n, { ratio: 0.02, momentum: 0.9 });
    // Entry 0 is always the one that is sent; the others wait.
    const gradient = (iteration: number): Float32Array =>
      bellShaped(n, iteration + 1).map((x, i) => (i === 0 ? 1000 : x));
    const velocity = new Float64Array(n);
    const sum = new Float64Array(n);
    for (let iteration = 0; iteration < 20; iteration++) {
      const given = gradient(iteration);
      await world.exchange(iteration, [given]);
      for (let i = 0; i < n; i++) {
        velocity[i] = 0.9 * velocity[i]! + given[i]!;
        sum[i]! += velocity[i]!;
      }
    }
    const residual = world.residual(0);
    for (let i = 1; i < n; i++) expect(residual[i]).toBeCloseTo(sum[i]!, 4);
  });

  it('forgets the momentum of what was sent', async () => {
    const world = worldOf(2, { ratio: 0.5, momentum: 0.5 });
    const steps = [
      { gradient: [8, 1], result: [8, 0] },
      // The velocity of entry 0 was cleared with it; that of entry 1 goes on.
      { gradient: [0, 1], result: [0, 2.5] },
      { gradient: [0, 0], result: [0, 0] },
    ];
    for (const [iteration, { gradient, result }] of steps.entries()) {
      expect([...(await world.exchange(iteration, [gradient]))[0]!]).toEqual(result);
    }
  });

  it.each([1, 4])(
    'is SGD with momentum where %i ranks send all and nothing is masked',
    async (ranks) => {
      const n = 50;
      const world = worldOf(
        n,
        { ratio: 1, momentum: 0.9, factorMasking: false },
        ranks,
      );
      const velocity = new Float64Array(n);
      for (let iteration = 0; iteration < 20; iteration++) {
        const gradients = Array.from({ length: ranks }, (_, rank) =>
          bellShaped(n, 1 + rank + ranks * iteration),
        );
        const results = await world.exchange(iteration, gradients);
        for (let i = 0; i < n; i++) {
          const sum = gradients.reduce((total, gradient) => total + gradient[i]!, 0);
          velocity[i] = 0.9 * velocity[i]! + sum / ranks;
        }
        for (const result of results) {
          for (let i = 0; i < n; i++) expect(result[i]).toBeCloseTo(velocity[i]!, 5);
        }
      }
    },
  );

  it('clips each rank’s gradient at its share of the limit', async () => {
    const world = worldOf(2, { ratio: 1, momentum: 0, clip: 10 }, 4);
    const [result] = await world.exchange(0, [
      [30, 40],
      [3, 4],
      [0, 0],
      [0, 5],
    ]);
    // 10/√4 = 5: the first is scaled to it, the others are within.
    expect([...result!]).toEqual([6 / 4, 13 / 4]);
  });
});
