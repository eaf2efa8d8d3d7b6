/** DCT's thresholds: how long they live, when they are refreshed early, what they bound. */
import { describe, expect, it } from 'vitest';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const N = 1000;

function worldOf(parameters: {
  lifeSpan?: number;
  band?: number;
  selection?: string;
}): SimulatedWorld {
  return new SimulatedWorld({
    method: 'dct',
    parameters: { ratio: 0.02, ...parameters },
    ranks: 1,
    length: N,
    tensors: [
      { name: 'w', start: 0, length: 900, shape: [30, 30] },
      { name: 'b', start: 900, length: 100, shape: [100] },
    ],
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
}

async function run(
  world: SimulatedWorld,
  iterations: readonly number[],
  scale: (iteration: number) => number = () => 1,
): Promise<{ refreshes: number[]; sent: number[] }> {
  const refreshes: number[] = [];
  const sent: number[] = [];
  for (const iteration of iterations) {
    const gradient = bellShaped(N, 1 + iteration).map((x) => x * scale(iteration));
    await world.exchange(iteration, [gradient]);
    refreshes.push(world.statistics[0]!.thresholdRefreshes!);
    sent.push(world.statistics[0]!.nnzLocal!);
  }
  return { refreshes, sent };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('dct', () => {
  it('sends the same where it sorts to find a threshold', async () => {
    const worlds = [
      worldOf({ lifeSpan: 3 }),
      worldOf({ lifeSpan: 3, selection: 'sort' }),
    ];
    // Falls and rises, so that thresholds are renewed early, too.
    const scale = (t: number): number => (t % 5 === 4 ? 20 : 1);
    const [selected, sorted] = [
      await run(worlds[0]!, upTo(12), scale),
      await run(worlds[1]!, upTo(12), scale),
    ];
    expect(sorted).toEqual(selected);
    expect(worlds[1]!.residual(0)).toEqual(worlds[0]!.residual(0));
  });

  it('refreshes every tensor’s threshold once in a life-span, and sends k then', async () => {
    const { refreshes, sent } = await run(
      worldOf({ lifeSpan: 3, band: 1000 }),
      upTo(10),
    );
    expect(refreshes).toEqual([2, 0, 0, 2, 0, 0, 2, 0, 0, 2]);
    // 2 % of 900 and of 100.
    expect([sent[0], sent[3], sent[6]]).toEqual([20, 20, 20]);
  });

  it('refreshes early when gradients grow or shrink, and stays in the band', async () => {
    const jump = (iteration: number): number => (iteration < 5 ? 1 : 1000);
    const { refreshes, sent } = await run(worldOf({ lifeSpan: 100 }), upTo(12), jump);
    expect(refreshes[0]).toBe(2);
    expect(refreshes[5]).toBe(2);
    for (const count of sent) {
      expect(count).toBeGreaterThanOrEqual(20 / 4);
      expect(count).toBeLessThanOrEqual(20 * 4);
    }
    // Without the band the stale threshold sends everything.
    const unbounded = await run(worldOf({ lifeSpan: 100, band: 1000 }), upTo(6), jump);
    expect(unbounded.refreshes[5]).toBe(0);
    expect(unbounded.sent[5]).toBeGreaterThan(0.9 * N);
  });

  it('counts its life from where it began, not from the run’s start', async () => {
    const { refreshes } = await run(
      worldOf({ lifeSpan: 3, band: 1000 }),
      [7, 8, 9, 10],
    );
    expect(refreshes).toEqual([2, 0, 0, 2]);
  });

  it('goes on from a saved threshold and phase: no refresh on resuming', async () => {
    const first = worldOf({ lifeSpan: 4, band: 1000 });
    await run(first, [5, 6]);
    const second = worldOf({ lifeSpan: 4, band: 1000 });
    second.restore(await first.save());
    const { refreshes } = await run(second, [7, 8, 9]);
    expect(refreshes).toEqual([0, 0, 2]);
  });

  it('never sends zeros, nor looks in vain for a threshold among them', async () => {
    const world = worldOf({ lifeSpan: 100 });
    const gradient = new Float32Array(N);
    gradient[3] = 5;
    for (let iteration = 0; iteration < 4; iteration++) {
      await world.exchange(iteration, [gradient]);
      expect(world.statistics[0]).toMatchObject({
        nnzLocal: 1,
        thresholdRefreshes: iteration === 0 ? 2 : 0,
      });
    }
  });

  it('sends no more than the band where ties would, lowest indices first', async () => {
    const world = worldOf({ lifeSpan: 1 });
    await world.exchange(0, [new Float32Array(N).fill(1)]);
    expect(world.statistics[0]!.nnzLocal).toBe(80);
    const residual = world.residual(0);
    expect([residual[0], residual[71], residual[72], residual[900]]).toEqual([
      0, 0, 1, 0,
    ]);
  });
});
