/**
 * The kernels of 8-bit floats in blocks: WebAssembly against the reference on every size and
 * input of the matrix, bit for bit, on one thread and several; and what the format promises.
 */
import { describe, expect, test } from 'vitest';
import {
  blocksOf,
  FLOAT8,
  largestScale,
  NAN_SCALE,
  SCALE_BLOCK,
  type Float8Type,
} from '../../../src/agent/kernels/microscaling.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';
import { backends, type Backend } from './backends.ts';
import { threaded } from './threaded.ts';

const NOISE = { seed: 3, rank: 1, bucket: 2, iteration: 4, purpose: 5 };
const TYPES = Object.keys(FLOAT8) as Float8Type[];
/** The largest f32, and what ends or begins near a border of its range. */
const EXTREMES = [
  ...[3.4028234663852886e38, -3e38, 1.75 * 2 ** 127, 2 ** 127, 2 ** -126, 2 ** -149],
  ...[1.75, 1.7500001, 1.7499999, 1.9999999, 1.625, 1.6875].map(
    (part) => part * 2 ** 90,
  ),
];

interface Encoded {
  readonly scales: Uint8Array;
  readonly codes: Uint8Array;
}

function encoded(
  backend: Backend,
  type: Float8Type,
  x: Float32Array,
  noise?: typeof NOISE,
): Encoded {
  const { arena, kernels } = backend;
  const scales = { ...arena.allocate(blocksOf(x.length)), bytes: blocksOf(x.length) };
  const codes = { ...arena.allocate(x.length), bytes: x.length };
  kernels.microscaling.encode(type, backend.put(x), scales, codes, noise);
  return {
    scales: arena.u8(scales.offset, scales.bytes).slice(),
    codes: arena.u8(codes.offset, codes.bytes).slice(),
  };
}

function decoded(
  backend: Backend,
  type: Float8Type,
  { codes, scales }: Encoded,
): Float32Array {
  const { arena, kernels } = backend;
  const at = { ...arena.allocate(scales.length), bytes: scales.length };
  const data = { ...arena.allocate(codes.length), bytes: codes.length };
  arena.u8(at.offset, at.bytes).set(scales);
  arena.u8(data.offset, data.bytes).set(codes);
  const out = arena.allocateVector(codes.length);
  kernels.microscaling.decode(type, at, data, out);
  return backend.get(out);
}

const bytesOf = ({ codes, scales }: Encoded): Buffer => Buffer.concat([scales, codes]);

describe.each(TYPES)('%s', (type) => {
  const { fraction, largest } = FLOAT8[type];

  describe.each(Object.entries(backends))('%s', (_, make) => {
    test('every code with every scale is the value of the definition', () => {
      const codes = Uint8Array.from({ length: 256 }, (_code, code) => code).filter(
        (code) => (code & 0x7f) <= largest,
      );
      for (const scale of [0, 1, 126, 127, largestScale(type)]) {
        const scales = new Uint8Array(blocksOf(codes.length)).fill(scale);
        const values = decoded(make(), type, { codes, scales });
        for (const [at, code] of codes.entries()) {
          const [digits, bias] = [code & 0x7f, FLOAT8[type].bias];
          const exponent = digits >> fraction;
          const part = (digits & (2 ** fraction - 1)) / 2 ** fraction;
          const value = exponent === 0 ? part * 2 : 1 + part;
          const power = exponent - bias + scale - 127;
          const expected = value * 2 ** power * (code < 128 ? 1 : -1);
          expect(
            Object.is(values[at], Math.fround(expected)),
            `${code}, ${scale}`,
          ).toBe(true);
        }
      }
    });

    test('exact values stay, whatever the noise', () => {
      const block = Uint8Array.from({ length: largest + 1 }, (_code, code) => code);
      // Every block has the largest value, which determines the scale.
      const codes = Uint8Array.from({ length: 32 * 5 }, (_code, at) =>
        at % 32 === 0 ? largest : block[(at * 3) % block.length]!,
      );
      const scales = Uint8Array.of(0, 9, 127, 200, largestScale(type));
      const x = decoded(make(), type, { codes, scales });
      for (const noise of [undefined, NOISE]) {
        expect(bytesOf(encoded(make(), type, x, noise))).toEqual(
          bytesOf({ codes, scales }),
        );
      }
    });

    test('an error is at most half a step of the element, or of the smallest', () => {
      const x = Float32Array.from([
        ...bellShaped(4000),
        ...bellShaped(999),
        ...EXTREMES,
      ]);
      const all = encoded(make(), type, x);
      const values = decoded(make(), type, all);
      x.forEach((value, index) => {
        const scale = all.scales[Math.floor(index / SCALE_BLOCK)]!;
        const smallest = 2 ** (scale - 126 - FLOAT8[type].bias - fraction);
        const cut = Math.abs(value) > 1.75 * 2 ** 127;
        const most = cut
          ? 2 ** 126
          : Math.max(smallest, Math.abs(value) * 2 ** -fraction);
        expect(Math.abs(values[index]! - value), `${value}`).toBeLessThanOrEqual(
          most / 2,
        );
      });
    });

    test('rounds at random with the value as the expectation', () => {
      // A quarter of a step above 1; below, half a step in the subnormal range.
      const step = 2 ** -fraction;
      const least = 2 ** (1 - FLOAT8[type].bias - fraction);
      for (const [value, share] of [
        [1 + step / 4, 0.25],
        [1.5 * least, 0.5],
      ] as const) {
        const n = 32 * 1250;
        const top = decoded(make(), type, {
          codes: Uint8Array.of(largest),
          scales: Uint8Array.of(127),
        })[0]!;
        const x = new Float32Array(n).map((_zero, i) => (i % 32 === 0 ? top : value));
        const values = decoded(make(), type, encoded(make(), type, x, NOISE));
        const drawn = values.filter((_value, i) => i % 32 !== 0);
        const up = drawn.filter((one) => one > value).length / drawn.length;
        const error = Math.sqrt((share * (1 - share)) / drawn.length);
        expect(Math.abs(up - share)).toBeLessThan(5 * error);
        expect(new Set(drawn).size).toBe(2);
      }
    });

    test('a block that is not finite has the scale NaN, and codes that are finite', () => {
      const { arena, kernels } = make();
      for (const value of [NaN, Infinity, -Infinity]) {
        for (const noise of [undefined, NOISE]) {
          // Two whole blocks and one that is not.
          for (const at of [0, 31, 40, 65]) {
            const x = new Float32Array(70).fill(1);
            x[at] = value;
            const { codes, scales } = encoded(make(), type, x, noise);
            const block = Math.floor(at / SCALE_BLOCK);
            const found = [...scales].map((scale) => scale === NAN_SCALE);
            expect(found, `${at}`).toEqual([0, 1, 2].map((index) => index === block));
            const data = { ...arena.allocate(codes.length), bytes: codes.length };
            arena.u8(data.offset, data.bytes).set(codes);
            expect(kernels.microscaling.firstNonFinite(type, data)).toBe(-1);
          }
        }
      }
    });

    test('finds the first code that is not finite', () => {
      const { arena, kernels } = make();
      const find = (codes: readonly number[]): number => {
        const data = { ...arena.allocate(codes.length), bytes: codes.length };
        arena.u8(data.offset, data.bytes).set(codes);
        return kernels.microscaling.firstNonFinite(type, data);
      };
      const zeros = new Array<number>(40).fill(0);
      expect(find([])).toBe(-1);
      expect(find([...zeros, largest, 0x80 + largest])).toBe(-1);
      expect(find([...zeros, largest + 1])).toBe(40);
      expect(find([0, 0xff, largest + 1])).toBe(1);
      expect(find([...zeros.slice(0, 17), 0x80 + largest + 1, ...zeros])).toBe(17);
    });
  });

  test.each(SIZES)('has the same bits on every backend: %d elements', (n) => {
    const [reference, wasm] = [backends.reference(), backends.wasm()];
    // The reference takes its time.
    for (const name of n > 20_000 ? ['heavyTailed'] : Object.keys(INPUTS)) {
      const x = INPUTS[name]!(n).map((value, i) =>
        i % 37 === 0 ? EXTREMES[i % EXTREMES.length]! : value,
      );
      for (const noise of [undefined, NOISE]) {
        const expected = encoded(reference, type, x, noise);
        const actual = encoded(wasm, type, x, noise);
        expect(Buffer.compare(bytesOf(actual), bytesOf(expected)), name).toBe(0);
        const [a, b] = [reference, wasm].map((one) => decoded(one, type, expected));
        expect(
          a!.findIndex((value, i) => !Object.is(value, b![i])),
          name,
        ).toBe(-1);
        expect(b!.every(Number.isFinite)).toBe(true);
      }
    }
  });
});

test('threads share the work, with the same bits', async () => {
  const { backend, pool } = threaded(3);
  try {
    const x = INPUTS['heavyTailed']!(300_007);
    for (const type of TYPES) {
      for (const noise of [undefined, NOISE]) {
        const expected = encoded(backends.wasm(), type, x, noise);
        const shared = encoded(backend, type, x, noise);
        expect(Buffer.compare(bytesOf(shared), bytesOf(expected))).toBe(0);
        const values = decoded(backend, type, expected);
        const alone = decoded(backends.wasm(), type, expected);
        expect(values.findIndex((value, i) => !Object.is(value, alone[i]))).toBe(-1);
      }
    }
  } finally {
    await pool.close();
  }
});
