/** Where a long vector is sampled, and that its sums are those of the sample. */
import { describe, expect, it } from 'vitest';
import {
  sampledIndices,
  VectorSample,
} from '../../../src/agent/methods/vector-sample.ts';
import { fixedSumsOf } from '../../../src/agent/kernels/fixed-point.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { ArenaWork } from '../../../src/agent/work/arena/arena-work.ts';
import { run } from '../../../src/agent/work/steps.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';

const SAMPLED = 16_384;

describe('indices of a sample', () => {
  it.each([16_385, 32_767, 199_210, 1_000_003, 25_000_000, 4_000_000_000])(
    'are one of each equal stretch of %i elements',
    (length) => {
      const indices = sampledIndices(length);
      expect(indices).toHaveLength(SAMPLED);
      const astray = indices.findIndex((index, i) => {
        const stretch = length / SAMPLED;
        return index < Math.floor(i * stretch) || index >= (i + 1) * stretch;
      });
      expect(astray).toBe(-1);
      expect(indices.findIndex((index, i) => i > 0 && index < indices[i - 1]!)).toBe(
        -1,
      );
    },
  );

  it.each([2, 10, 64, 784, 1024])('do not run along %i columns', (columns) => {
    const seen = new Array<number>(columns).fill(0);
    for (const index of sampledIndices(SAMPLED * 64)) seen[index % columns]!++;
    const fair = SAMPLED / columns;
    expect(Math.min(...seen)).toBeGreaterThan(0.5 * fair);
    expect(Math.max(...seen)).toBeLessThan(2 * fair);
  });
});

describe('sums', () => {
  it.each([1, SAMPLED, SAMPLED + 1, 200_000])('of %i elements', (length) => {
    const { arena, kernels } = backends.wasm(new Arena());
    using work = new ArenaWork(arena, kernels);
    const sample = new VectorSample(work, length);
    const x = work.vector(length);
    for (const factor of [1, 1e-20]) {
      const values = bellShaped(length).map((value) => value * factor);
      arena.f32(x).set(values);
      const taken =
        length <= SAMPLED
          ? values
          : Float32Array.from(sampledIndices(length), (index) => values[index]!);
      expect(run(sample.fixedSums(x))).toEqual(fixedSumsOf(taken));
    }
  });
});
