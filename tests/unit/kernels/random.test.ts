import { describe, expect, it } from 'vitest';
import { CounterRandom, philox } from '../../../src/agent/kernels/random.ts';

const words = (text: string): number[] =>
  text.split(' ').map((word) => Number.parseInt(word, 16));

describe('philox 4×32-10', () => {
  // The vectors that Random123 publishes (kat_vectors, philox4x32 10).
  it.each([
    [
      '00000000 00000000 00000000 00000000',
      '00000000 00000000',
      '6627e8d5 e169c58d bc57ac4c 9b00dbd8',
    ],
    [
      'ffffffff ffffffff ffffffff ffffffff',
      'ffffffff ffffffff',
      '408f276d 41c83b0e a20bc7c6 6d5451fd',
    ],
    [
      '243f6a88 85a308d3 13198a2e 03707344',
      'a4093822 299f31d0',
      'd16cfe09 94fdcceb 5001e420 24126ea1',
    ],
  ])('counter %s, key %s gives %s', (counter, key, expected) => {
    const out = new Uint32Array(4);
    const [k0, k1] = words(key);
    philox(Uint32Array.from(words(counter)), [k0!, k1!], out);
    expect([...out]).toEqual(words(expected));
  });
});

describe('CounterRandom', () => {
  it('draws the same numbers in any order', () => {
    const forward = new CounterRandom({ seed: 7, rank: 1, bucket: 2, iteration: 3 });
    const backward = new CounterRandom({ seed: 7, rank: 1, bucket: 2, iteration: 3 });
    const ascending = Array.from({ length: 21 }, (_, i) => forward.bits(i));
    const descending = Array.from({ length: 21 }, (_, i) => backward.bits(20 - i));
    expect(descending.reverse()).toEqual(ascending);
  });

  it('gives each of seed, rank, bucket, iteration and purpose a stream of its own', () => {
    const names = [
      { seed: 1 },
      { seed: 2 },
      { seed: 1, rank: 1 },
      { seed: 1, bucket: 1 },
      { seed: 1, iteration: 1 },
      { seed: 1, purpose: 1 },
    ];
    const firsts = names.map((name) => new CounterRandom(name).bits(0));
    expect(new Set(firsts).size).toBe(names.length);
  });

  it('is uniform: mean and variance within 5 standard errors, never 1', () => {
    const random = new CounterRandom({ seed: 1 });
    const n = 100_000;
    const draws = Array.from({ length: n }, (_, i) => random.uniform(i));
    const mean = draws.reduce((sum, u) => sum + u, 0) / n;
    const variance = draws.reduce((sum, u) => sum + (u - 0.5) ** 2, 0) / n;
    expect(Math.abs(mean - 0.5)).toBeLessThan(5 / Math.sqrt(12 * n));
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(5 * Math.sqrt(1 / 180 / n));
    expect(draws.every((u) => u >= 0 && u < 1 && Math.fround(u) === u)).toBe(true);
  });
});
