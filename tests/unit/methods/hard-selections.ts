/**
 * Vectors in which a threshold for about k entries is hard to find, or is not there: ties,
 * too few entries other than 0, magnitudes from one end of f32 to the other. Deterministic.
 */
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';

const DENORMAL = 2 ** -149;
const LARGEST = (2 - 2 ** -23) * 2 ** 127;

export const HARD_SELECTIONS: Readonly<Record<string, (n: number) => Float32Array>> = {
  'three entries that are not 0': (n) =>
    at(n, [Math.floor(0.9 * n), 5], [Math.floor(0.95 * n), -7], [n - 1, 3]),
  'a handful of equal entries': (n) =>
    Float32Array.from({ length: n }, (_, i) => (i % 300 === 299 ? 7 : 0)),
  'one outlier': (n) => spiked(n, 1e30, 1),
  'one outlier above small ones': (n) => spiked(n, 1e30, 1e-30),
  'one outlier above denormals': (n) => spiked(n, LARGEST, 40 * DENORMAL),
  'outliers of both ends of f32': (n) => {
    const x = spiked(n, LARGEST, 1);
    return x.map((value, i) => (i % 3 === 0 ? Math.sign(value) * DENORMAL : value));
  },
  'all equal': (n) => new Float32Array(n).fill(-2.5),
  'all the largest f32': (n) => new Float32Array(n).fill(LARGEST),
  'all the least f32': (n) => new Float32Array(n).fill(-DENORMAL),
  'all zero': (n) => Float32Array.from({ length: n }, (_, i) => (i % 2 ? -0 : 0)),
  denormals: (n) => bellShaped(n).map((x) => x * 1e-43),
  'two values': (n) => Float32Array.from({ length: n }, (_, i) => (i % 2 ? 1 : -3)),
  'two scales': (n) => bellShaped(n).map((x, i) => (i % 20 === 19 ? x * 1e20 : x)),
  'a large and a small half': (n) =>
    bellShaped(n).map((x, i) => (2 * i >= n ? x * 1e30 : x * 1e-30)),
  'heavy tails': (n) => bellShaped(n).map((x) => x ** 9),
  'heavier tails': (n) => bellShaped(n).map((x) => x ** 31),
  'any bits': (n) => {
    const random = new CounterRandom({ seed: 77 });
    const bits = Uint32Array.from({ length: n }, (_, i) => random.bits(i));
    // Finite: half of the exponents, from end to end.
    return new Float32Array(bits.map((word) => word & ~0x0080_0000).buffer);
  },
};

function at(n: number, ...entries: readonly [number, number][]): Float32Array {
  const x = new Float32Array(n);
  for (const [index, value] of entries) if (index >= 0) x[index] = value;
  return x;
}

function spiked(n: number, spike: number, scale: number): Float32Array {
  return bellShaped(n).map((x, i) => (i === n >> 1 ? spike : x * scale));
}
