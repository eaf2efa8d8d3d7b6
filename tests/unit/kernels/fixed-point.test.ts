/** Sums in fixed point: by the definition, the same from every backend. */
import { describe, expect, it } from 'vitest';
import {
  clippedAt,
  fixedSumsOf,
  momentsOf,
  normOf,
  roundedMeanOf,
  roundedNormOf,
} from '../../../src/agent/kernels/fixed-point.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';
import { backends } from './backends.ts';

const sumsOf = (values: readonly number[]) => fixedSumsOf(Float32Array.from(values));

describe('units', () => {
  it('are 2⁻²⁷ of the power of two below the largest, cut off', () => {
    const unit = 2 ** -27;
    const sums = sumsOf([1.5, 3.75 * unit, -2.25 * unit, 0.75 * unit]);
    const units = [3n * 2n ** 26n, 3n, -2n, 0n];
    expect(sums).toEqual({
      count: 4,
      exponent: 0,
      sum: units.reduce((sum, value) => sum + value),
      squares: units.reduce((sum, value) => sum + value * value, 0n),
    });
  });

  it('hold every denormal', () => {
    const tiny = 2 ** -149;
    const sums = sumsOf([tiny, -3 * tiny, 2 ** -126]);
    expect(roundedNormOf(sumsOf([3 * tiny, -4 * tiny]))).toBe(5 * tiny);
    expect(momentsOf(sums).mean).toBe((2 ** -126 - 2 * tiny) / 3);
  });
});

describe('results', () => {
  it('are right where they can be', () => {
    expect(roundedNormOf(sumsOf([3, -4]))).toBe(5);
    expect(normOf(sumsOf([3, -4]))).toBe(5);
    expect(momentsOf(sumsOf([3, -4]))).toEqual({ mean: -0.5, deviation: 3.5 });
    expect(roundedMeanOf(sumsOf([-3, -4]))).toBe(-3.5);
    expect(momentsOf(sumsOf([]))).toEqual({ mean: 0, deviation: 0 });
    expect(roundedMeanOf(sumsOf([]))).toBe(0);
  });

  it('round to the nearest f32', () => {
    for (let seed = 1; seed < 50; seed++) {
      const x = bellShaped(1 + seed, seed);
      const sums = fixedSumsOf(x);
      const norm = Math.hypot(...x);
      expect(Math.abs(roundedNormOf(sums) - norm)).toBeLessThan(1e-7 * norm);
      expect(roundedNormOf(sums)).toBeGreaterThanOrEqual(
        Math.max(...x.map((value) => Math.abs(value))),
      );
    }
  });

  it('lose no deviation of equal entries, nor find one', () => {
    const x = new Float32Array(300_001).fill(0.1);
    expect(momentsOf(fixedSumsOf(x)).deviation).toBe(0);
    expect(clippedAt(x[0]!, 2.5, fixedSumsOf(x))).toBe(x[0]!);
    expect(roundedMeanOf(fixedSumsOf(x))).toBe(x[0]!);
    x[7] = 0.3;
    expect(
      momentsOf(fixedSumsOf(x)).deviation / (0.2 / Math.sqrt(300_001)),
    ).toBeCloseTo(1, 5);
  });

  it('stay finite', () => {
    const largest = (2 - 2 ** -23) * 2 ** 127;
    expect(roundedNormOf(sumsOf([largest, largest]))).toBe(largest);
  });
});

describe.each(SIZES)('n = %i', (n) => {
  it.each(Object.keys(INPUTS))('%s: WebAssembly adds up the same', (name) => {
    const x = INPUTS[name]!(n);
    const wasm = backends.wasm();
    expect(wasm.kernels.quantization.fixedSums(wasm.put(x))).toEqual(fixedSumsOf(x));
  });
});
