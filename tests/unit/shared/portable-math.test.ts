/**
 * Functions whose bits are the same on every machine. The oracles are the engine's own
 * functions, to a few units in the last place, and for the bits themselves sums that were
 * taken on x86_64 and on aarch64, where the engine's own functions differ.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  cos,
  exp,
  expm1,
  log,
  log1p,
  octave,
  power,
  sin,
} from '../../../src/shared/numbers/portable-math.ts';

const words = new BigInt64Array(1);
const float = new Float64Array(words.buffer);

/** Doubles in their order, as integers. */
function orderOf(value: number): bigint {
  float[0] = value;
  return words[0]! < 0n ? -(words[0]! & (2n ** 63n - 1n)) : words[0]!;
}

/** How many doubles lie from one to the other. */
function unitsApart(a: number, b: number): number {
  if (Object.is(a, b)) return 0;
  const apart = Number(orderOf(a) - orderOf(b));
  return Number.isNaN(a) || Number.isNaN(b) ? Infinity : Math.abs(apart);
}

/** Numbers in [0, 1) by integers alone. */
function* drawn(count: number): Generator<number> {
  let state = 2463534242;
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) / 2 ** 32;
  }
}

const COUNT = 20_000;
const signed = (u: number): number => 2 * u - 1;
const cube = (x: number): number => x * x * x;

interface Case {
  readonly own: (x: number) => number;
  readonly engine: (x: number) => number;
  /** From [0, 1), by exact steps. */
  readonly argument: (u: number) => number;
  /** Units in the last place that it may be off. */
  readonly most: number;
  /** Of the bits of all results: the same on x86_64 and on aarch64. */
  readonly bits: string;
}

const cases: Readonly<Record<string, Case>> = {
  exp: {
    own: exp,
    engine: Math.exp,
    argument: (u) => 745 * signed(u),
    most: 2,
    bits: 'f29b49258048fd92',
  },
  log: {
    own: log,
    engine: Math.log,
    argument: (u) => 1e-12 + 3 * u,
    most: 2,
    bits: '10baf3b03301376d',
  },
  log1p: {
    own: log1p,
    engine: Math.log1p,
    argument: (u) => 0.9 * cube(signed(u)),
    most: 3,
    bits: '1bb01c1c8e65bc08',
  },
  expm1: {
    own: expm1,
    engine: Math.expm1,
    argument: (u) => 4 * cube(signed(u)),
    most: 3,
    bits: 'df45c57dbbf07b32',
  },
  cos: {
    own: cos,
    engine: Math.cos,
    argument: (u) => 1000 * signed(u),
    most: 2,
    bits: '7d0ee7870eeda670',
  },
  sin: {
    own: sin,
    engine: Math.sin,
    argument: (u) => 1000 * signed(u),
    most: 2,
    bits: 'a428123e8a7c5807',
  },
  'cos of half a turn': {
    own: cos,
    engine: Math.cos,
    argument: (u) => Math.PI * u,
    most: 2,
    bits: '08a417f59908e1ba',
  },
  'power 3': {
    own: (x) => power(x, 3),
    engine: (x) => x ** 3,
    argument: (u) => 8 * u,
    most: 2,
    bits: '3f725f0f7a48be1a',
  },
  'power −2': {
    own: (x) => power(x, -2),
    engine: (x) => x ** -2,
    argument: (u) => 1 + u,
    most: 3,
    bits: '4aff8cff5eabf73b',
  },
  'power 0.9': {
    own: (x) => power(x, 0.9),
    engine: (x) => x ** 0.9,
    argument: (u) => u + 1e-6,
    most: 16,
    bits: '4ee8941d64a3d607',
  },
  'power of 0.999': {
    own: (x) => power(0.999, x),
    engine: (x) => 0.999 ** x,
    argument: (u) => 1e4 * u,
    most: 16,
    bits: 'ad98ccbae0d3f06c',
  },
};

describe('functions with the same bits everywhere', () => {
  test.each(Object.entries(cases))('%s', (_, { own, engine, argument, most, bits }) => {
    const results = new Float64Array(COUNT);
    let worst = 0;
    for (const [i, u] of [...drawn(COUNT)].entries()) {
      const x = argument(u);
      results[i] = own(x);
      worst = Math.max(worst, unitsApart(results[i]!, engine(x)));
    }
    expect(worst).toBeLessThanOrEqual(most);
    const hash = createHash('sha256').update(new Uint8Array(results.buffer));
    expect(hash.digest('hex').slice(0, 16)).toBe(bits);
  });

  test('takes what is at the edge of numbers as the engine does', () => {
    for (const x of [0, -0, 1, -1, 5e-324, 710, -746, Infinity, -Infinity, NaN]) {
      expect([x, unitsApart(exp(x), Math.exp(x)) <= 1]).toEqual([x, true]);
      expect([x, unitsApart(log(x), Math.log(x)) <= 1]).toEqual([x, true]);
      expect([x, unitsApart(expm1(x), Math.expm1(x)) <= 2]).toEqual([x, true]);
      expect([x, unitsApart(log1p(x), Math.log1p(x)) <= 2]).toEqual([x, true]);
    }
    expect([power(0, 0), power(0, 0.5), power(0, 2), power(1, 1e9)]).toEqual([
      1, 0, 0, 1,
    ]);
    expect([cos(0), sin(0)]).toEqual([1, 0]);
  });

  test('octave is the exponent of every double', () => {
    for (let k = -1074; k < 1024; k++) {
      expect(octave(2 ** k)).toBe(k);
      if (k > -1022) expect(octave(2 ** k * (1 - 2 ** -53))).toBe(k - 1);
    }
  });
});
