import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { trainerOptions } from './train-together.ts';

const run = { dataset: 'digits', world: 1, batchPerRank: 8, lr: 0.05, iterations: 3 };

/** jax-js makes an instance of a kernel for each time that it runs. */
function countKernels(): () => number {
  const instance = vi.spyOn(WebAssembly, 'Instance');
  return () => instance.mock.calls.length;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a gradient that is ready layer by layer', () => {
  it.each([
    ['fnn3', 'digits'],
    ['lstm-small', 'sentences'],
  ])('%s: the last tensor, before the first are computed', async (model, dataset) => {
    const trainer = await createTrainer({
      ...trainerOptions({ ...run, dataset }, 0),
      model,
    });
    const whole = new Float32Array(trainer.length);
    trainer.loadBatch(0);
    const step = await trainer.computeGradient(whole);

    const kernels = countKernels();
    const gradient = new Float32Array(trainer.length).fill(NaN);
    const seen: { from: number; there: number; kernels: number }[] = [];
    const layered = await trainer.computeGradient(gradient, (from) => {
      const there = gradient.findIndex((value) => !Number.isNaN(value));
      seen.push({ from, there, kernels: kernels() });
    });
    trainer.close();

    expect(layered).toEqual(step);
    expect(gradient).toEqual(whole);
    const starts = trainer.tensors.map(({ start }) => start).toReversed();
    expect(seen.map(({ from }) => from)).toEqual([...starts, 0]);
    expect(seen.map(({ there }) => there)).toEqual([...starts, 0]);
    const weights = seen.filter(
      (_, i) => trainer.tensors.at(-1 - i)?.shape.length === 2,
    );
    const counts = weights.map((at) => at.kernels);
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    expect(counts[0]).toBeGreaterThan(0);
  });
});
