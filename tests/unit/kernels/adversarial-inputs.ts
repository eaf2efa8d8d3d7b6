/**
 * Vectors that break careless kernels: every class of value that f32 has, and the
 * patterns that a selection or a sum might trip over. Deterministic.
 */
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { effort } from '../../harness/effort.ts';

/** Around vector widths and histogram runs, and one that is odd and has more than 2¹⁶ elements. */
export const SIZES: readonly number[] = [
  ...[0, 1, 2, 31, 511, 512, 513, 10_007],
  effort({ quick: 100_003, soak: 1_000_003 }),
];

const denormal = 2 ** -149;

export const INPUTS: Readonly<Record<string, (n: number) => Float32Array>> = {
  bellShaped: (n) => bellShaped(n),
  heavyTailed: (n) => bellShaped(n).map((x) => x ** 9),
  'all zero': (n) => new Float32Array(n),
  'all equal': (n) => new Float32Array(n).fill(-2.5),
  'all negative': (n) => bellShaped(n).map((x) => -Math.abs(x) - 1e-3),
  'plus and minus zero': (n) =>
    Float32Array.from({ length: n }, (_, i) => (i % 3 ? -0 : 0)),
  denormals: (n) =>
    Float32Array.from(
      { length: n },
      (_, i) => ((i * 7) % 23) * (i % 2 ? -1 : 1) * denormal,
    ),
  'scale 1e-30': (n) => bellShaped(n).map((x) => x * 1e-30),
  'scale 1e30': (n) => bellShaped(n).map((x) => x * 1e30),
  'one-hot': (n) =>
    new Float32Array(n).fill(-3, Math.max(0, n - 2), Math.max(0, n - 1)),
  'few distinct values': (n) =>
    Float32Array.from({ length: n }, (_, i) => [1, -1, 2, 0, -0, -2, 1][(i * 5) % 7]!),
  ascending: (n) => Float32Array.from({ length: n }, (_, i) => i / 8),
  descending: (n) => Float32Array.from({ length: n }, (_, i) => (i - n) / 8),
};

/** Of them those that broke something before; with every one of them go the long runs. */
export const TELLING = [
  'heavyTailed',
  'plus and minus zero',
  'denormals',
  'scale 1e30',
  'one-hot',
  'few distinct values',
] as const;

const drawn = new Map<string, Float32Array>();

/** Sums of four uniforms: near enough to Gaussian, and exactly the same everywhere. */
export function bellShaped(n: number, seed = 1): Float32Array {
  const name = `${n} ${seed}`;
  let x = drawn.get(name);
  if (x === undefined) {
    const random = new CounterRandom({ seed });
    x = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const at = 4 * i;
      const low = random.uniform(at) + random.uniform(at + 1);
      x[i] = low + random.uniform(at + 2) + random.uniform(at + 3) - 2;
    }
    drawn.set(name, x);
  }
  return x.slice();
}
