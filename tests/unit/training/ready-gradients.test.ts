import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { trainerOptions } from './train-together.ts';

/** A batch that no other test has: kernels are kept, and only new ones are counted. */
const run = { dataset: 'digits', world: 1, batchPerRank: 7, lr: 0.05, iterations: 3 };

/** How often jax-js has run a kernel of those that it makes from now on. */
function countKernels(): () => number {
  const { Instance } = WebAssembly;
  let count = 0;
  vi.spyOn(WebAssembly, 'Instance').mockImplementation(function (...given) {
    const instance = new Instance(...given);
    const kernel = instance.exports.kernel as ((...at: number[]) => void) | undefined;
    // Of our own modules, which have other names.
    if (kernel === undefined) return instance;
    const counted = (...at: number[]): void => {
      count++;
      kernel(...at);
    };
    return { exports: { kernel: counted } };
  });
  return () => count;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a gradient that is ready layer by layer', () => {
  it.each([
    ['fnn3', 'digits'],
    ['lstm-small', 'sentences'],
    ['dlrm-small', 'clicks'],
  ])('%s: the last tensor, before the first are computed', async (model, dataset) => {
    const kernels = countKernels();
    const trainer = await createTrainer({
      ...trainerOptions({ ...run, dataset }, 0),
      model,
    });
    const whole = new Float32Array(trainer.length);
    trainer.loadBatch(0);
    const step = await trainer.computeGradient(whole);

    const before = kernels();
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
    expect([...new Set(seen.map(({ from }) => from))]).toEqual(starts);
    expect(seen.map(({ there }) => there)).toEqual(seen.map(({ from }) => from));
    const weights = seen.filter(
      (_, i) => trainer.tensors.at(-1 - i)?.shape.length === 2,
    );
    const counts = weights.map((at) => at.kernels);
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    expect(counts[0]).toBeGreaterThan(before);
  });
});
