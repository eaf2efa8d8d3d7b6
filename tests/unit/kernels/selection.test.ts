/** Exact top-k, above all where the fast path samples: its result must never show it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../harness/effort.ts';
import { bellShaped } from './adversarial-inputs.ts';
import { backends } from './backends.ts';

/** By definition: sort all indices by |x|, then index. */
function largest(x: Float32Array, k: number): number[] {
  return Array.from(x.keys())
    .sort((i, j) => Math.abs(x[j]!) - Math.abs(x[i]!) || i - j)
    .slice(0, k)
    .sort((i, j) => i - j);
}

const finite = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    2 ** -149,
    -(2 ** -149),
    2 ** -126,
    3.4028234663852886e38,
  ),
);

describe.each(Object.entries(backends))('selectTopK of %s', (_, make) => {
  it('keeps exactly the k largest, ties by lower index, values with their bits', () => {
    const backend = make();
    fc.assert(
      fc.property(
        fc.array(finite, { maxLength: 200 }),
        fc.nat({ max: 220 }),
        (values, k) => {
          const x = Float32Array.from(values);
          const vector = backend.put(x);
          const out = backend.arena.allocate(8 * Math.min(k, x.length));
          const stream = backend.kernels.sparsification.selectTopK(vector, k, out);
          const { indices, values: selected } = backend.getStream(stream);
          backend.arena.release(out);
          backend.arena.release(vector);
          const expected = largest(x, k);
          expect([...indices]).toEqual(expected);
          expect([...selected]).toEqual(expected.map((index) => x[index]));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('refuses memory that is too small for the stream', () => {
    const backend = make();
    const x = backend.put(new Float32Array(100));
    const out = backend.arena.allocate(16);
    expect(() => backend.kernels.sparsification.selectTopK(x, 3, out)).toThrow(
      'internal:',
    );
  });
});

describe('selectTopK of wasm, by sample', () => {
  // 200,003 entries are sampled at every 15th: 12,500 of them, from 0.
  const n = 200_003;
  const stride = 15;
  const sampled = (i: number): boolean => i % stride === 0 && i < 12_500 * stride;

  it.each<[string, (i: number, x: number) => number]>([
    ['the sample is like the vector', (_, x) => x],
    ['the sample sees only the largest', (i, x) => (sampled(i) ? x + 100 : x)],
    ['the sample sees only the smallest', (i, x) => (sampled(i) ? x * 1e-9 : x)],
    ['the sample sees only zeros', (i, x) => (sampled(i) ? 0 : x)],
    ['all that count are ties', (i) => (i % 7 === 0 ? -1 : 0.5)],
    ['the largest come last', (i, x) => (i > n - 3000 ? 9 + x : x)],
    ['almost all are zero', (i, x) => (i % 997 === 0 ? x : 0)],
  ])('is exact where %s', (_, change) => {
    const x = bellShaped(n).map((value, i) => change(i, value));
    const wasm = backends.wasm();
    const reference = backends.reference();
    const vector = wasm.put(x);
    const oracle = reference.put(x);
    for (const k of [1, 200, 2_000, 6_250]) {
      const stream = wasm.kernels.sparsification.selectTopK(
        vector,
        k,
        wasm.arena.allocate(8 * k),
      );
      const expected = reference.kernels.sparsification.selectTopK(
        oracle,
        k,
        reference.arena.allocate(8 * k),
      );
      expect(wasm.pairs(stream)).toEqual(reference.pairs(expected));
    }
  });

  it('takes scratch from the arena once, then none', () => {
    const backend = backends.wasm();
    const vector = backend.put(bellShaped(n));
    const out = backend.arena.allocate(8 * 2000);
    backend.kernels.sparsification.selectTopK(vector, 2000, out);
    const probe = backend.arena.allocate(16);
    for (let i = 0; i < 5; i++)
      backend.kernels.sparsification.selectTopK(vector, 2000 - i, out);
    expect(backend.arena.allocate(16).offset).toBe(probe.offset + 16);
  });
});
