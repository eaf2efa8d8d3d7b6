/**
 * The WebAssembly kernels against the reference, on every size and input of the matrix:
 * the same bits from elementwise kernels, selections and streams; the same numbers to
 * 1e-6 from reductions.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { backends, bytes, type Backend } from './backends.ts';
import { bellShaped, INPUTS, SIZES } from './adversarial-inputs.ts';

let reference: Backend;
let wasm: Backend;

beforeEach(() => {
  reference = backends.reference();
  wasm = backends.wasm();
});

/** Both backends do the same work; `read` returns what is to have the same bits. */
function expectSameBits(
  work: (backend: Backend) => readonly (Float32Array | Uint32Array)[],
): void {
  const expected = work(reference);
  const actual = work(wasm);
  expect(actual.length).toBe(expected.length);
  actual.forEach((array, index) => {
    // On a million elements a diff of two arrays says less than their first difference.
    if (bytes(array).equals(bytes(expected[index]!))) return;
    const at = array.findIndex((value, i) => !Object.is(value, expected[index]![i]));
    expect.fail(
      `array ${index} differs at ${at}: ${array[at]} for ${expected[index]![at]}`,
    );
  });
}

function expectSameNumber(actual: number, expected: number): void {
  if (actual === expected) return;
  expect(Math.abs(actual - expected) / Math.abs(expected)).toBeLessThan(1e-6);
}

/** At most `limit` pairs that meet some of a selection's indices and miss others. */
function everySeventh(n: number, limit: number): [number, number][] {
  const length = Math.min(limit, Math.ceil(n / 7));
  return Array.from({ length }, (_, i) => [7 * i, i / 3]);
}

/** No entry, one, a share, all but one, all, more than all. */
function counts(n: number): number[] {
  // The reference takes a second for a million pairs: one share of the largest will do.
  const share = Math.ceil(n / 100);
  return n > 1e5 ? [share] : [...new Set([0, 1, share, Math.max(0, n - 1), n, n + 5])];
}

describe.each(SIZES)('n = %i', (n) => {
  // The reference is slow: of the largest a few.
  const few = effort({ quick: ['heavyTailed', 'one-hot'], soak: Object.keys(INPUTS) });
  describe.each(n > 1e5 ? few : Object.keys(INPUTS))('%s', (name) => {
    const x = INPUTS[name]!(n);

    it('elementwise kernels give the same bits', () => {
      const y = bellShaped(n, 2);
      expectSameBits((backend) => {
        const { kernels } = backend;
        const sum = backend.put(x);
        kernels.add(sum, backend.put(y));
        const scaled = backend.put(x);
        kernels.scale(scaled, 1 / 3);
        const shifted = backend.put(x);
        kernels.shiftBySign(shifted, 0.1, -0.7);
        const copied = backend.put(y);
        kernels.copy(copied, backend.put(x));
        const filled = backend.put(x);
        kernels.fill(filled, 0.1);
        return [sum, scaled, shifted, copied, filled].map((v) => backend.get(v));
      });
    });

    it.each(counts(n))('selection of %i and its streams give the same bits', (k) => {
      expectSameBits((backend) => {
        const { kernels, arena } = backend;
        const vector = backend.put(x);
        const selected = kernels.sparsification.selectTopK(
          vector,
          k,
          arena.allocate(8 * Math.min(k, n)),
        );
        const other = backend.putStream(everySeventh(n, k));
        const room = arena.allocate(8 * (selected.count + other.count));
        const merged = kernels.reduction.merge('sum', selected, other, room);
        const scattered = backend.put(x);
        kernels.scatterAdd(scattered, merged, 1 / 3);
        kernels.clearAt(vector, selected);
        return [
          ...Object.values(backend.getStream(selected)),
          ...Object.values(backend.getStream(merged)),
          backend.get(scattered),
          backend.get(vector),
        ];
      });
    });

    it('reductions give the same numbers', () => {
      const [a, b] = [reference, wasm].map((backend) => {
        const vector = backend.put(x);
        const other = backend.put(bellShaped(n, 2));
        const { plus, minus } = backend.kernels.twoMeans(vector);
        return {
          squaredNorm: backend.kernels.squaredNorm(vector),
          squaredDistance: backend.kernels.squaredDistance(vector, other),
          firstNonFinite: backend.kernels.firstNonFinite(vector),
          plus,
          minus,
        };
      });
      for (const name of Object.keys(a!) as (keyof NonNullable<typeof a>)[]) {
        expectSameNumber(b![name], a![name]);
      }
    });
  });
});
