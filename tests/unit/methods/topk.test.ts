import { describe, expect, it } from 'vitest';
import { entriesSent } from '../../../src/agent/methods/policy/ratio-schedule.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

describe('topk', () => {
  it.each([
    { n: 1000, ratio: 0.01, k: 0, sent: 10 },
    { n: 100, ratio: 0.07, k: 0, sent: 7 },
    { n: 10, ratio: 0.01, k: 0, sent: 1 },
    { n: 10, ratio: 1, k: 0, sent: 10 },
    { n: 1000, ratio: 0.5, k: 3, sent: 3 },
    { n: 2, ratio: 0.5, k: 3, sent: 2 },
    { n: 0, ratio: 0.5, k: 0, sent: 0 },
    { n: 0, ratio: 0.5, k: 5, sent: 0 },
  ])('sends $sent of $n at ratio $ratio, k $k', ({ n, sent, ...parameters }) => {
    expect(entriesSent(n, parameters)).toBe(sent);
  });

  it('reports what it sent, and the union where it was seen', async () => {
    const options = {
      method: 'topk',
      parameters: { k: 2 },
      ranks: 2,
      length: 6,
      makeKernels: (arena) => backends.wasm(arena).kernels,
    } as const satisfies ConstructorParameters<typeof SimulatedWorld>[0];
    const gradients = [
      [9, 0, 8, 1, 1, 1],
      [9, 0, 1, 1, 8, 1],
    ];
    const sparse = new SimulatedWorld({ ...options, form: 'sparse' });
    await sparse.exchange(0, gradients);
    expect(sparse.statistics[0]).toEqual({ nnzLocal: 2, nnzReduced: 3 });
    const dense = new SimulatedWorld({ ...options, form: 'dense' });
    await dense.exchange(0, gradients);
    expect(dense.statistics[0]).toEqual({ nnzLocal: 2 });
  });

  it('gives the same bits in whatever form the sum comes', async () => {
    const gradients = [1, 2, 3].map((seed) => bellShaped(2000, seed));
    const results = await Promise.all(
      (['dense', 'sparse', 'streams', 'gathered'] as const).map((form) =>
        new SimulatedWorld({
          method: 'topk',
          parameters: { ratio: 0.3 },
          ranks: 3,
          length: 2000,
          form,
          makeKernels: (arena) => backends.wasm(arena).kernels,
        }).exchange(0, gradients),
      ),
    );
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
    expect(results[3]).toEqual(results[0]);
  });
});
