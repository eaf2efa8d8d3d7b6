/**
 * The kernels of 16-bit values: WebAssembly against the reference on every size and input of the
 * matrix, bit for bit, on one thread and several; and the codes against the platform's own
 * binary16 and the definition of bfloat16.
 */
import { describe, expect, test } from 'vitest';
import type { Region } from '../../../src/agent/memory/arena.ts';
import { HALF_TYPES, type HalfType } from '../../../src/agent/memory/value-type.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';
import { backends, type Backend } from './backends.ts';
import { threaded } from './threaded.ts';

const NOISE = { seed: 3, rank: 1, bucket: 2, iteration: 4, purpose: 5 };
/** Around every border of both formats, and between their values. */
const BORDERS = Float32Array.from(
  [
    ...[0, -0, 1, -1.5, 65_504, 65_519, 65_519.99, 65_520, 65_536, 1e6, -7e4],
    ...[3.3895e38, 3.396e38, -3.4028e38, 2 ** -126, 2 ** -127, 2 ** -133, 2 ** -149],
    ...[-14, -15, -24, -25, -26, -39, -40, -41].flatMap((power) =>
      [1, 1.5, 1 + 2 ** -10, 1 + 2 ** -11, 1 - 2 ** -12, 1.25, 1.75].map(
        (part) => part * 2 ** power,
      ),
    ),
    ...[3, 5, 7, 0.5, 2.5].map((part) => part * 2 ** -25),
  ].flatMap((value) => [value, -value, value * (1 + 2 ** -23)]),
);

const codesOf = (backend: Backend, { bytes, offset }: Region): Uint16Array =>
  new Uint16Array(backend.arena.u8(offset, bytes).slice().buffer);

const narrowed = (
  backend: Backend,
  type: HalfType,
  x: Float32Array,
  noise?: typeof NOISE,
  factor = 1,
): Uint16Array => {
  const out = { ...backend.arena.allocate(2 * x.length), bytes: 2 * x.length };
  backend.kernels.halfPrecision.narrow(type, backend.put(x), factor, out, noise);
  return codesOf(backend, out);
};

const widened = (
  backend: Backend,
  type: HalfType,
  codes: Uint16Array,
): Float32Array => {
  const data = { ...backend.arena.allocate(2 * codes.length), bytes: 2 * codes.length };
  backend.arena.u8(data.offset, data.bytes).set(new Uint8Array(codes.buffer));
  const out = backend.arena.allocateVector(codes.length);
  backend.kernels.halfPrecision.widen(type, data, out);
  return backend.get(out);
};

const ALL_CODES = Uint16Array.from({ length: 65_536 }, (_, code) => code);

/** The values of bfloat16 are those of f32 whose lower half is 0. */
const bf16Values = (codes: Uint16Array): Float32Array =>
  new Float32Array(Uint32Array.from(codes, (code) => code << 16).buffer);
const f16Values = (codes: Uint16Array): Float32Array =>
  Float32Array.from(new Float16Array(codes.slice().buffer));
const VALUES = { bfloat16: bf16Values, binary16: f16Values };

describe.each(HALF_TYPES)('%s', (type) => {
  describe.each(Object.entries(backends))('%s', (_, make) => {
    test('has the values of its definition, for every code', () => {
      const actual = widened(make(), type, ALL_CODES);
      const expected = VALUES[type](ALL_CODES);
      const at = actual.findIndex((value, code) => !Object.is(value, expected[code]));
      expect(at).toBe(-1);
    });

    test('rounds to the nearest value, ties to even, and never to infinity', () => {
      const x = Float32Array.from([
        ...BORDERS,
        ...bellShaped(4000),
        ...bellShaped(999).map((v) => v * 3e-5),
      ]);
      const codes = narrowed(make(), type, x);
      const all = VALUES[type](ALL_CODES);
      const largest = type === 'binary16' ? 65_504 : all[0x7f7f]!;
      x.forEach((value, index) => {
        const code = codes[index]!;
        const magnitude = Math.abs(value);
        const got = Math.abs(all[code]!);
        const below = (code & 0x7fff) === 0 ? got : Math.abs(all[code - 1]!);
        const above = got === largest ? Infinity : Math.abs(all[code + 1]!);
        expect(code >> 15, `the sign of ${value}`).toBe(
          Number(value < 0 || Object.is(value, -0)),
        );
        const distance = Math.abs(magnitude - got);
        if (below < got) expect(distance).toBeLessThanOrEqual(magnitude - below);
        expect(distance).toBeLessThanOrEqual(Math.abs(above - magnitude));
        const tie =
          distance > 0 &&
          got < largest &&
          (magnitude - below === distance || above - magnitude === distance);
        if (tie) expect(code % 2, `the tie of ${value}`).toBe(0);
      });
    });

    test('rounds at random with the value as the expectation', () => {
      const backend = make();
      // A quarter of the way to the next value; below, in the middle of a subnormal gap.
      for (const [value, share] of [
        [1 + (type === 'binary16' ? 2 ** -12 : 2 ** -9), 0.25],
        [type === 'binary16' ? 1.5 * 2 ** -24 : 1.5 * 2 ** -133, 0.5],
      ] as const) {
        const n = 40_000;
        const codes = narrowed(backend, type, new Float32Array(n).fill(value), NOISE);
        const up = codes.filter(
          (code) => VALUES[type](Uint16Array.of(code))[0]! > value,
        );
        const error = Math.sqrt((share * (1 - share)) / n);
        expect(Math.abs(up.length / n - share)).toBeLessThan(5 * error);
        expect(new Set(codes).size).toBe(2);
      }
    });

    test('keeps exact values, whatever the noise', () => {
      const values = VALUES[type](ALL_CODES);
      const expected = ALL_CODES.filter((code) => Number.isFinite(values[code]!));
      const exact = Float32Array.from(expected, (code) => values[code]!);
      for (const noise of [undefined, NOISE]) {
        const codes = narrowed(make(), type, exact, noise);
        expect(codes.findIndex((code, i) => code !== expected[i])).toBe(-1);
      }
    });

    test('adds in f32 and rounds once', () => {
      const backend = make();
      const [a, b] = [bellShaped(1037, 5), bellShaped(1037, 6).map((v) => v * 100)];
      const [x, y] = [a, b].map((v) => narrowed(backend, type, v));
      const put = (codes: Uint16Array) => {
        const { offset } = backend.arena.allocate(2 * codes.length);
        backend.arena.u8(offset, 2 * codes.length).set(new Uint8Array(codes.buffer));
        return { offset, length: codes.length };
      };
      const out = put(x!);
      backend.kernels.halfSums[type].combine('sum', out, put(y!));
      const sums = VALUES[type](x!).map((value, i) => value + VALUES[type](y!)[i]!);
      const got = codesOf(backend, { offset: out.offset, bytes: 2 * out.length });
      expect(got).toEqual(narrowed(backend, type, sums));
      backend.kernels.halfSums[type].clear('sum', out);
      const cleared = codesOf(backend, { offset: out.offset, bytes: 2 * out.length });
      expect(cleared.every((code) => code === 0)).toBe(true);
    });

    test('finds the first value that is not finite', () => {
      const backend = make();
      const find = (codes: readonly number[]) => {
        const data = {
          ...backend.arena.allocate(2 * codes.length),
          bytes: 2 * codes.length,
        };
        backend.arena
          .u8(data.offset, data.bytes)
          .set(new Uint8Array(Uint16Array.from(codes).buffer));
        return backend.kernels.halfPrecision.firstNonFinite(type, data);
      };
      const infinity = type === 'binary16' ? 0x7c00 : 0x7f80;
      expect(find([1, 2, infinity - 1])).toBe(-1);
      expect(find([1, infinity, 0])).toBe(1);
      expect(find([1, 0, 3, infinity + 1 + 0x8000])).toBe(3);
      expect(find([])).toBe(-1);
    });

    test('sums nothing else', () => {
      const { kernels } = make();
      const sums = kernels.halfSums[type];
      const none = { offset: 0, length: 0 };
      expect(() => sums.combine('max', none, none)).toThrow(
        'internal: a max of 16-bit',
      );
      expect(() => sums.combine('sum', none, { ...none, length: 1 })).toThrow();
      expect(() => sums.firstAtLeast({ offset: 0, count: 0 }, 1)).toThrow('internal:');
    });
  });

  test.each(SIZES)('has the same bits on every backend: %d elements', (n) => {
    const [reference, wasm] = [backends.reference(), backends.wasm()];
    // The reference takes its time.
    for (const name of n > 20_000 ? ['heavyTailed'] : Object.keys(INPUTS)) {
      const input = INPUTS[name]!(n);
      const x = input.map((value, i) =>
        i % 5 === 0 ? BORDERS[i % BORDERS.length]! : value,
      );
      for (const noise of [undefined, NOISE]) {
        const expected = narrowed(reference, type, x, noise, 1 / 3);
        const actual = narrowed(wasm, type, x, noise, 1 / 3);
        const at = expected.findIndex((code, i) => code !== actual[i]);
        expect(at, `${name}: ${x[at]} is ${actual[at]} for ${expected[at]}`).toBe(-1);
      }
    }
  });
});

test('threads share the work, with the same bits', async () => {
  const { backend, pool } = threaded(3);
  try {
    const x = INPUTS['heavyTailed']!(300_007);
    for (const type of HALF_TYPES) {
      for (const noise of [undefined, NOISE]) {
        const codes = narrowed(backends.wasm(), type, x, noise);
        expect(
          Buffer.compare(
            Buffer.from(narrowed(backend, type, x, noise).buffer),
            Buffer.from(codes.buffer),
          ),
        ).toBe(0);
        expect(
          Buffer.compare(
            Buffer.from(widened(backend, type, codes).buffer),
            Buffer.from(widened(backends.wasm(), type, codes).buffer),
          ),
        ).toBe(0);
      }
    }
  } finally {
    await pool.close();
  }
});
