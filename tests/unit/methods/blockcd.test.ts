/** Which coordinates `blockcd` contributes: blocks of slices that are disjoint and move on. */
import { describe, expect, it } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

/** Which coordinates each rank has sent, in each iteration. */
async function sent(
  { ranks, length, k }: Readonly<Record<'ranks' | 'length' | 'k', number>>,
  iterations: number,
): Promise<readonly (readonly number[])[][]> {
  using world = new SimulatedWorld({
    ...{ method: 'blockcd', parameters: { k }, ranks, length },
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
  const gradients = Array.from({ length: ranks }, () =>
    new Float32Array(length).fill(1),
  );
  const all: number[][][] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    await world.exchange(iteration, gradients);
    all.push(
      world.sent.map((bytes) => [
        ...new Uint32Array(bytes.slice(0, bytes.length / 2).buffer),
      ]),
    );
  }
  return all;
}

describe.each([
  { ranks: 1, length: 10, k: 3 },
  { ranks: 3, length: 10, k: 2 },
  { ranks: 3, length: 10, k: 4 },
  { ranks: 4, length: 10, k: 100 },
  { ranks: 5, length: 3, k: 2 },
  { ranks: 7, length: 0, k: 1 },
])('%j', (world) => {
  const { k, length, ranks } = world;

  it('no coordinate is sent twice', async () => {
    for (const blocks of await sent(world, 2 * ranks)) {
      const united = blocks.flat();
      expect(new Set(united).size).toBe(united.length);
      expect(united.every((j) => j < length)).toBe(true);
      for (const block of blocks) expect(block.length).toBeLessThanOrEqual(k);
      const least = Math.floor(length / ranks);
      for (const block of blocks) {
        expect(block.length).toBeGreaterThanOrEqual(Math.min(k, least));
      }
    }
  });

  it('in P iterations a rank has had every slice once', async () => {
    const bounds = Array.from({ length: ranks + 1 }, (_, i) =>
      Math.floor((i * length) / ranks),
    );
    const iterations = await sent(world, ranks);
    for (let rank = 0; rank < ranks; rank++) {
      const slices = iterations.flatMap((blocks) => {
        const [first] = blocks[rank]!;
        return first === undefined ? [] : [bounds.findLastIndex((at) => at <= first)];
      });
      expect(new Set(slices).size).toBe(slices.length);
      expect(slices.length).toBe(Math.min(ranks, length));
    }
  });
});

it('draws every coordinate equally often', async () => {
  const [ranks, length, k, iterations] = [3, 31, 4, 3000];
  const times = new Array<number>(length).fill(0);
  for (const blocks of await sent({ ranks, length, k }, iterations)) {
    for (const j of blocks.flat()) times[j]!++;
  }
  // Slices of 10, 10 and 11.
  const chance = (j: number): number => k / (j < 20 ? 10 : 11);
  times.forEach((count, j) => {
    const p = chance(j);
    const bound = 5 * Math.sqrt(iterations * p * (1 - p));
    expect(Math.abs(count - iterations * p)).toBeLessThan(bound);
  });
});

describe('what it is refused with', () => {
  it.each([
    [{ k: 0 }, 'METHOD_PARAMETER_INVALID'],
    [{ k: 1.5 }, 'METHOD_PARAMETER_INVALID'],
    [{ k: -3 }, 'METHOD_PARAMETER_INVALID'],
    [{ k: 2 ** 31 }, 'METHOD_PARAMETER_INVALID'],
    [{ k: 'all' }, 'METHOD_PARAMETER_INVALID'],
    [{ ratio: 0.1 }, 'METHOD_PARAMETER_UNKNOWN_KEY'],
    [{ collective: 'ok-topk' }, 'COLLECTIVE_MISFIT'],
    [{ collective: 'ring' }, 'COLLECTIVE_MISFIT'],
  ])('%j: %s', (given, code) => {
    expect(() => resolvePlan({ method: 'blockcd', ...given })).toThrow(
      expect.objectContaining({ code, kind: 'input' }),
    );
  });

  const spec = (more: object, method = 'blockcd') => ({
    ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
    ...{ exchange: { method }, ...more },
  });
  const misfit = expect.objectContaining({
    code: 'METHOD_OPTIMIZER_MISFIT',
    place: 'exchange.method',
  }) as Error;

  it.each([
    [{ kind: 'sgd', weightDecay: 0.001 }],
    [{ kind: 'adamw' }],
    [{ kind: 'lars', weightDecay: 1 }],
  ])('an optimizer %j that moves all weights', (optimizer) => {
    expect(() => checkedLaunch(spec({ optimizer }))).toThrow(misfit);
    const change = { method: 'blockcd' };
    expect(() =>
      checkedLaunch(spec({ optimizer }, 'topk'), [{ at: 3, change }]),
    ).toThrow(misfit);
    const layers = [{ match: '*', method: 'blockcd' }];
    expect(() =>
      checkedLaunch({ ...spec({ optimizer }), exchange: { method: 'none', layers } }),
    ).toThrow(expect.objectContaining({ code: 'METHOD_OPTIMIZER_MISFIT' }));
  });

  it('but not where the decay is a part of what was moved, or is 0', () => {
    const parallelism = { kind: 'local-steps' };
    const decays = { kind: 'sgd', weightDecay: 0.001 };
    checkedLaunch(spec({ optimizer: decays, parallelism }));
    checkedLaunch(spec({ optimizer: { kind: 'adamw', weightDecay: 0 } }));
    checkedLaunch(spec({ optimizer: decays }, 'topk'));
  });
});
