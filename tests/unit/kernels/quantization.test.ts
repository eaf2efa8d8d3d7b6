/**
 * The quantising kernels: WebAssembly against the reference on every size and input of
 * the matrix, bit for bit; and the codes themselves against their definitions.
 */
import { describe, expect, it } from 'vitest';
import {
  codeBits,
  eliasCapacity,
  MAXIMUM_LEVELS,
  omegaLength,
  packedBytes,
  runsOf,
  type EliasForm,
  type ScaleKind,
} from '../../../src/agent/kernels/quantization.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { omegaBits } from '../../../src/agent/kernels/reference/elias.ts';
import { effort } from '../../harness/effort.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';
import { backends, type Backend } from './backends.ts';

const NOISE = { seed: 3, rank: 1, bucket: 2, iteration: 4, purpose: 5 };

/** Every width; runs within tiles, across them, and longer than everything. */
const QUANTIZERS: readonly {
  levels: number;
  runLength: number;
  scale: ScaleKind;
}[] = [
  { levels: 7, runLength: 512, scale: 'max' },
  { levels: 1, runLength: 128, scale: 'max' },
  { levels: 127, runLength: 512, scale: 'l2' },
  { levels: 1, runLength: 1 << 24, scale: 'l2' },
  { levels: 5, runLength: 100, scale: 'max' },
  { levels: 3, runLength: 31, scale: 'l2' },
  { levels: 15, runLength: 1, scale: 'max' },
  { levels: 31, runLength: 7, scale: 'max' },
  { levels: 63, runLength: 33, scale: 'l2' },
  { levels: 1000, runLength: 1 << 24, scale: 'l2' },
  { levels: MAXIMUM_LEVELS, runLength: 64, scale: 'max' },
];

function sameBytes(work: (backend: Backend) => readonly Uint8Array[]): void {
  const expected = work(backends.reference());
  const actual = work(backends.wasm());
  expected.forEach((bytes, part) => {
    if (Buffer.from(actual[part]!).equals(bytes)) return;
    const at = bytes.findIndex((byte, i) => byte !== actual[part]![i]);
    expect.fail(`part ${part}, byte ${at}: ${actual[part]![at]} for ${bytes[at]}`);
  });
}

const f32Bytes = (array: Float32Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/**
 * A third: of every quantizer and size some inputs, of every quantizer and input some sizes.
 */
function isTried(n: number, name: string, quantizer: number): boolean {
  const size = SIZES.findIndex((one) => one === n);
  const input = Object.keys(INPUTS).indexOf(name);
  const third = (size + input + quantizer) % 3 === 0;
  return effort({ quick: n > 1e5 || third, soak: true });
}

describe.each(SIZES)('n = %i', (n) => {
  // The reference takes a second for a million elements: one case of the largest does.
  const names = n > 1e5 ? ['heavyTailed'] : Object.keys(INPUTS);
  const quantizers = n > 1e5 ? QUANTIZERS.slice(0, 1) : QUANTIZERS;

  describe.each(names)('%s', (name) => {
    const x = INPUTS[name]!(n);

    it.each(quantizers.filter((_, index) => isTried(n, name, index)))(
      'codes of s = $levels, d = $runLength, $scale have the same bytes',
      ({ levels, runLength, scale }) => {
        sameBytes((backend) => {
          const { quantization } = backend.kernels;
          const scales = backend.arena.allocateVector(runsOf(n, runLength));
          const size = packedBytes(n, codeBits(levels));
          const codes = backend.arena.allocate(size);
          const vector = backend.put(x);
          const quantizer = { levels, runLength };
          const exact = { ...scales, length: runsOf(n, runLength) };
          quantization.quantize(vector, quantizer, scale, NOISE, exact, codes);
          const given = backend.arena.allocate(size);
          quantization.quantize(vector, quantizer, 'given', NOISE, exact, given);
          const out = backend.put(x);
          quantization.dequantize(out, quantizer, exact, codes, true);
          const largest = quantization.largestLevel(codes, n, levels);
          const fresh = backend.put(x);
          quantization.dequantize(fresh, quantizer, exact, codes, false);
          return [
            f32Bytes(backend.get(exact)),
            backend.arena.u8(codes.offset, size).slice(),
            backend.arena.u8(given.offset, size).slice(),
            f32Bytes(backend.get(out)),
            f32Bytes(backend.get(fresh)),
            Uint8Array.of(largest & 255, largest >> 8),
          ];
        });
      },
    );

    it('signs and means have the same bytes, as has what they leave', () => {
      sameBytes((backend) =>
        [512, 1, 31, 100, 1 << 24].slice(0, n > 1e5 ? 1 : 5).flatMap((runLength) => {
          const { quantization } = backend.kernels;
          const vector = backend.put(x);
          const means = backend.arena.allocateVector(2 * runsOf(n, runLength));
          const signs = backend.arena.allocate(packedBytes(n, 1));
          quantization.quantizeSigns(vector, runLength, means, signs);
          const out = backend.put(x);
          quantization.dequantizeSigns(out, runLength, means, signs, true);
          const fresh = backend.put(x);
          quantization.dequantizeSigns(fresh, runLength, means, signs, false);
          return [
            f32Bytes(backend.get({ ...means, length: 2 * runsOf(n, runLength) })),
            backend.arena.u8(signs.offset, packedBytes(n, 1)).slice(),
            ...[vector, out, fresh].map((v) => f32Bytes(backend.get(v))),
          ];
        }),
      );
    });

    it.each([0, 0.5, 2.5])('clipped at %f deviations: the same number', (clip) => {
      const [a, b] = [backends.reference(), backends.wasm()].map((backend) =>
        backend.kernels.quantization.clippedMaximum(backend.put(x), clip),
      );
      expect(b).toBe(a);
    });
  });
});

describe('packed codes', () => {
  it.each([2, 3, 4, 5, 6, 7, 8, 12, 16])('of %i bits lie as documented', (bits) => {
    const levels = 2 ** (bits - 1) - 1;
    const n = 77;
    const backend = backends.wasm();
    // Whole levels: nothing is left to chance. The largest stands in every run.
    const x = Float32Array.from({ length: n }, (_, i) =>
      i % 11 === 0 ? levels : (((i * 2654435761) >>> 8) % (2 * levels + 1)) - levels,
    );
    const scales = backend.arena.allocateVector(runsOf(n, 11));
    const codes = backend.arena.allocate(packedBytes(n, bits));
    backend.arena.u8(codes.offset, codes.bytes).fill(255);
    backend.kernels.quantization.quantize(
      backend.put(x.map((value) => value * 0.5)),
      { levels, runLength: 11 },
      'max',
      NOISE,
      scales,
      codes,
    );
    const bytes = backend.arena.u8(codes.offset, packedBytes(n, bits));
    const bit = (at: number): number => (bytes[at >> 3]! >> (at & 7)) & 1;
    const field = (from: number, length: number): number =>
      Array.from({ length }, (_, i) => bit(from + i) * 2 ** i).reduce((a, b) => a + b);
    x.forEach((value, i) => {
      expect(field(i * bits, bits - 1)).toBe(Math.abs(value));
      expect(bit(i * bits + bits - 1)).toBe(value < 0 ? 1 : 0);
    });
    for (let at = n * bits; at < 8 * bytes.length; at++) expect(bit(at)).toBe(0);
  });

  it('round up by the drawn bits, ties by the further number', () => {
    // An element whose 16 random bits are f: at fraction f/65536 exactly, only a rest
    // below 2⁻¹⁶ can lift it, and does so where the further number is below the rest.
    const n = 4096;
    const random = new CounterRandom(NOISE);
    const drawn = Array.from({ length: n }, (_, i) =>
      i % 2 ? random.bits(i >> 1) >>> 16 : random.bits(i >> 1) & 0xffff,
    );
    for (const rest of [0, 0.25, 0.75]) {
      const x = Float32Array.from(drawn, (bits) => (bits + rest) / 65_536);
      for (const backend of [backends.reference(), backends.wasm()]) {
        const scales = backend.put(Float32Array.of(1));
        const codes = backend.arena.allocate(packedBytes(n, 2));
        backend.kernels.quantization.quantize(
          backend.put(x),
          { levels: 1, runLength: n },
          'given',
          NOISE,
          { ...scales, length: 1 },
          codes,
        );
        const out = backend.arena.allocateVector(n);
        backend.kernels.quantization.dequantize(
          { ...out, length: n },
          { levels: 1, runLength: n },
          { ...scales, length: 1 },
          codes,
          false,
        );
        const expected = drawn.map((_, i) =>
          Number(rest > random.uniform(2 ** 33 + i)),
        );
        expect([...backend.get({ ...out, length: n })]).toEqual(expected);
      }
    }
  });
});

describe('values of codes', () => {
  const step = 2 ** -149;
  // Where scale / s loses its bits, where it begins to, and far from there.
  const SCALES = [
    ...[1, 2, 3, 6, 23, 1000, 2 ** 21 + 1, 2 ** 23 - 1, 2 ** 23].map((m) => m * step),
    ...[127, 126, 125, 120, 115, 112, 100, 65, 64, 63].map((e) => 1.37 * 2 ** -e),
    ...[1e-10, 1, 1.7, 3e30].map(Math.fround),
  ].map(Math.fround);

  it.each(effort({ quick: [1, 3, 7, 127], soak: [1, 3, 7, 127, 1000] }))(
    'of %i levels are the nearest f32',
    (levels) => {
      const count = levels + 1;
      for (const backend of [backends.reference(), backends.wasm()]) {
        const { quantization } = backend.kernels;
        for (const scale of SCALES) {
          // Every level, and their opposites: of this scale nothing is left to chance.
          const scales = { ...backend.put(Float32Array.of(levels)), length: 1 };
          const x = Float32Array.from({ length: 2 * count }, (_, i) =>
            i < count ? i : count - i,
          );
          const quantizer = { levels, runLength: 2 * count };
          const codes = backend.arena.allocate(packedBytes(x.length, codeBits(levels)));
          const vector = backend.put(x);
          quantization.quantize(vector, quantizer, 'given', NOISE, scales, codes);
          backend.arena.f32(scales)[0] = scale;
          quantization.dequantize(vector, quantizer, scales, codes, false);
          const values = backend.get(vector);
          for (let i = 0; i < x.length; i++) {
            const exact = x[i]! * (scale / levels);
            const away = Math.abs(values[i]! - exact);
            expect(away).toBeLessThanOrEqual(step / 2 + Math.abs(exact) * 2 ** -22);
            if (scale / levels < 2 ** -126) continue;
            const unit = Math.fround(scale / levels);
            expect(values[i]).toBe(Math.fround(x[i]! * unit) + 0);
          }
        }
      }
    },
  );
});

describe('Elias ω', () => {
  it.each([
    [1, 1],
    [2, 3],
    [3, 3],
    [4, 6],
    [8, 7],
    [16, 11],
  ])('%i takes %i bits', (k, length) => {
    expect(omegaBits(k).length).toBe(length);
    expect(omegaLength(k)).toBe(length);
  });

  it('is the published code', () => {
    const published = ['0', '100', '110', '101000', '101010', '101100', '101110'];
    expect(published).toEqual([1, 2, 3, 4, 5, 6, 7].map((k) => omegaBits(k).join('')));
    expect(omegaBits(16).join('')).toBe('10100100000');
    expect(omegaBits(100).join('')).toBe('1011011001000');
  });

  const streams: readonly [name: string, levels: number, x: Float32Array][] = [
    ['nothing', 7, new Float32Array(0)],
    ['zeros', 7, new Float32Array(1000)],
    ['one', 7, Float32Array.of(1)],
    ['no zero', 7, new Float32Array(513).fill(-7)],
    ['bell', 127, bellShaped(5000).map((v) => Math.round(v * 60))],
    ['rare', 3, bellShaped(9999).map((v) => (v > 1.6 ? 3 : v < -1.7 ? -1 : 0))],
    ['wide', MAXIMUM_LEVELS, bellShaped(100).map((v) => Math.round(v * 16_000))],
    ['far apart', 1, Float32Array.from({ length: 70_001 }, (_, i) => +(i === 69_000))],
  ];

  describe.each(streams)('%s', (_, levels, x) => {
    it.each<EliasForm>(['auto', 'sparse', 'dense'])(
      'in form %s: the same bytes, which decode to the same codes',
      (form) => {
        sameBytes((backend) => {
          const { quantization } = backend.kernels;
          const { arena } = backend;
          const size = packedBytes(x.length, codeBits(levels));
          const codes = arena.allocate(size);
          const scales = backend.put(Float32Array.of(levels));
          quantization.quantize(
            backend.put(x),
            { levels, runLength: Math.max(1, x.length) },
            'given',
            NOISE,
            scales,
            codes,
          );
          const room = eliasCapacity(x.length, levels, form);
          const out = arena.allocate(room + 16);
          arena.u8(out.offset, out.bytes).fill(255);
          const bytes = quantization.eliasEncode(codes, x.length, levels, form, out);
          expect(bytes).toBeLessThanOrEqual(room);
          const behind = arena.u8(out.offset + room, 16);
          expect(behind.every((byte) => byte === 255)).toBe(true);
          const back = arena.allocate(size);
          const data = { offset: out.offset, bytes };
          expect(quantization.eliasDecode(data, x.length, levels, back)).toBe(bytes);
          const decoded = arena.u8(back.offset, size).slice();
          const original = arena.u8(codes.offset, size).slice();
          expect(Buffer.from(decoded).equals(original)).toBe(true);
          // One bit less and it is no stream any more.
          const short = { offset: out.offset, bytes: bytes - 4 };
          expect(quantization.eliasDecode(short, x.length, levels, back)).toBe(-1);
          return [arena.u8(out.offset, bytes).slice()];
        });
      },
    );
  });

  it('refuses the same bytes as the reference, of 5000 random streams', () => {
    const random = new CounterRandom({ seed: 9 });
    const [reference, wasm] = [backends.reference(), backends.wasm()].map(
      (backend) => ({
        backend,
        data: backend.arena.allocate(64),
        codes: backend.arena.allocate(256),
      }),
    );
    let accepted = 0;
    for (let stream = 0; stream < 5000; stream++) {
      const words = Array.from({ length: 16 }, (_, i) => random.bits(16 * stream + i));
      // Few ones, many ones, and anything between.
      const bytes = Uint8Array.from({ length: 4 * (stream % 16) }, (_, i) => {
        const byte = (words[i >> 2]! >> (8 * (i & 3))) & 255;
        const other = (words[((i + 7) >> 2) & 15]! >> (8 * (i & 3))) & 255;
        return stream % 3 === 0 ? byte : stream % 3 === 1 ? byte & other : byte | other;
      });
      const n = (stream * 7) % 60;
      const results = [reference!, wasm!].map(({ backend, data, codes }) => {
        backend.arena.u8(data.offset, bytes.length).set(bytes);
        const used = backend.kernels.quantization.eliasDecode(
          { offset: data.offset, bytes: bytes.length },
          n,
          7,
          codes,
        );
        const packed = backend.arena.u8(codes.offset, packedBytes(n, 4));
        return [used, used < 0 ? '' : Buffer.from(packed).toString('hex')];
      });
      expect(results[1]).toEqual(results[0]);
      if (Number(results[0]![0]) >= 0) accepted++;
    }
    expect(accepted).toBeGreaterThan(100);
  });
});
