import { describe, expect, test } from 'vitest';
import {
  corrected,
  correctedTerms,
  correctionAfter,
  isOff,
  UNCORRECTED,
} from '../../../src/shared/cost-model/network-correction.ts';
import { BETWEEN_NODES } from '../../../src/shared/cost-model/network-cost.ts';

const terms = { latency: 1, bandwidth: 6, reduction: 3 };

describe('a correction', () => {
  test.each([8, 9, 10, 11, 12])('leaves %d s of 10 predicted alone', (seconds) => {
    expect(correctionAfter(seconds, terms, UNCORRECTED)).toBe(UNCORRECTED);
  });

  test.each([7.9, 12.1, 16, 40])('explains %d s by what dominates', (seconds) => {
    const correction = correctionAfter(seconds, terms, UNCORRECTED);
    expect(correction).toMatchObject({ latency: 1, reduction: 1 });
    const { latency, bandwidth, reduction } = correctedTerms(terms, correction);
    expect(latency + bandwidth + reduction).toBeCloseTo(seconds, 9);
  });

  test('continues from the previous one, whatever term dominates now', () => {
    const first = correctionAfter(16, terms, UNCORRECTED);
    expect(first.bandwidth).toBe(2);
    const small = { latency: 5, bandwidth: 0.1, reduction: 0.1 };
    const second = correctionAfter(10.3, small, first);
    expect(second).toMatchObject({ bandwidth: 2, reduction: 1 });
    expect(second.latency).toBeCloseTo(2);
  });

  test('takes bounded steps, also where nothing explains so short a time', () => {
    expect(correctionAfter(1e9, terms, UNCORRECTED).bandwidth).toBe(10);
    expect(correctionAfter(0, terms, UNCORRECTED).bandwidth).toBe(0.1);
  });

  test('does nothing without a prediction', () => {
    const nothing = { latency: 0, bandwidth: 0, reduction: 0 };
    expect(correctionAfter(1, nothing, UNCORRECTED)).toBe(UNCORRECTED);
  });

  test('applies to the constants, and to all of the kernels', () => {
    const network = { alpha: 1, beta: 2, gamma: 3 };
    const correction = { latency: 2, bandwidth: 3, reduction: 4 };
    expect(corrected(network, correction)).toEqual({
      alpha: 2,
      beta: 6,
      gamma: 12,
      merge: 14 * 12,
      scatter: 5 * 12,
      between: { alpha: 2 * BETWEEN_NODES.alpha, beta: 3 * BETWEEN_NODES.beta },
    });
  });

  test('is about more than a fifth', () => {
    expect([79, 80, 120, 121].map((seen) => isOff(seen, 100))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});
