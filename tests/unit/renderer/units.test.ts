import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatElapsed,
  formatFactor,
  formatPercent,
  formatQuantity,
  formatRate,
  formatWholePercent,
} from '../../../src/shared/words/units.ts';

describe('quantities in words', () => {
  it.each([
    [0, '0 B'],
    [8, '8.00 B'],
    [999.4, '999 B'],
    [999.6, '1.00 kB'],
    [48_000, '48.0 kB'],
    [2_390_520, '2.39 MB'],
    [1e15, '1000 TB'],
    [undefined, '–'],
    [NaN, '–'],
  ])('%d bytes: %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [0.0625, '62.5 µs'],
    [0.82, '820 µs'],
    [0.9996, '1.00 ms'],
    [5.1234, '5.12 ms'],
    [41.97, '42.0 ms'],
    [999.7, '1.00 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min 00 s'],
    [59_999, '1 min 00 s'],
    [119_600, '2 min 00 s'],
    [125_000, '2 min 05 s'],
    [Infinity, '–'],
  ])('%d milliseconds: %s', (time, text) => {
    expect(formatDuration(time)).toBe(text);
  });

  it.each([
    [999, '0 s'],
    [7_400, '7 s'],
    [3_725_000, '1 h 02 min'],
    [273_600_000, '3 d 04 h'],
  ])('a clock at %d: %s', (time, text) => {
    expect(formatElapsed(time)).toBe(text);
  });

  it('shares, rates, factors, counts', () => {
    expect(formatPercent(0.0098)).toBe('0.98 %');
    expect(formatPercent(0.413)).toBe('41.3 %');
    expect(formatPercent(1)).toBe('100 %');
    expect([0.9994, 0.9995, 0.9996, 0.99999].map(formatPercent)).toEqual([
      ...['99.9 %', '99.95 %', '99.96 %', '99.999 %'],
    ]);
    // A sum of shares that is 1 but for its last bit.
    expect(formatPercent(1 - 2 ** -53)).toBe('100 %');
    expect(formatWholePercent(0.413)).toBe('41 %');
    expect(formatWholePercent(0.004)).toBe('under 1 %');
    expect(formatWholePercent(0)).toBe('0 %');
    expect(formatRate(128.4)).toBe('128 it/s');
    expect(formatFactor(1.724)).toBe('1.72×');
    expect(formatCount(199_210)).toBe('199,210');
    expect(formatCount(-1234)).toBe('-1,234');
    expect(formatQuantity(0.25)).toBe('0.2500');
    expect(formatQuantity(1.5e-7)).toBe('1.50e-7');
  });
});
