/** What the kernels' contract says, on cases small enough to check by eye. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backends } from './backends.ts';

describe.each(Object.entries(backends))('kernels of %s', (_, make) => {
  it('twoMeans counts −0 as ≥ 0, and an empty class as 0', () => {
    const backend = make();
    const means = (values: number[]): object =>
      backend.kernels.twoMeans(backend.put(values));
    expect(means([1, -2, 3, -6])).toEqual({ plus: 2, minus: 4 });
    expect(means([-0, 3, -1])).toEqual({ plus: 1.5, minus: 1 });
    expect(means([1, 2])).toEqual({ plus: 1.5, minus: 0 });
    expect(means([-1, -2, -3, -4, -5])).toEqual({ plus: 0, minus: 3 });
    expect(means([])).toEqual({ plus: 0, minus: 0 });
  });

  it.each([
    ['negative', 1],
    ['positive', -1],
  ])('twoMeans finds the mean of %s entries that are small and few', (_, sign) => {
    // Far below what a difference of sums over all 100,000 could tell.
    const x = new Float32Array(100_000).fill(sign * 3e7);
    for (let i = 0; i < 7; i++) x[13_131 * i + 5] = -sign * (i + 1) * 2 ** -30;
    const backend = make();
    const { plus, minus } = backend.kernels.twoMeans(backend.put(x));
    const few = 4 * 2 ** -30;
    expect([plus, minus]).toEqual(sign > 0 ? [3e7, few] : [few, 3e7]);
  });

  it('twoMeans accumulates in f64: 2²⁵ + 1s are not lost', () => {
    const backend = make();
    const x = new Float32Array(1001).fill(1);
    x[0] = 2 ** 25;
    expect(backend.kernels.twoMeans(backend.put(x)).plus).toBe((2 ** 25 + 1000) / 1001);
  });

  it('shiftBySign moves by the signs before the call', () => {
    const backend = make();
    const x = backend.put([1, -1, 0, -0, -0.25, 4]);
    backend.kernels.shiftBySign(x, -2, -0.5);
    expect([...backend.get(x)]).toEqual([-1, -0.5, -2, -2, 0.25, 2]);
  });

  it('squaredNorm and squaredDistance stay finite where f32 would overflow', () => {
    const backend = make();
    const x = backend.put([1e30, -1e30, 1e30, 1e30, 1e30]);
    const y = backend.put([-1e30, -1e30, 1e30, 1e30, 1e30]);
    expect(backend.kernels.squaredNorm(x)).toBeCloseTo(5e60, -54);
    expect(backend.kernels.squaredDistance(x, y)).toBeCloseTo(4e60, -54);
  });

  it.each([NaN, Infinity, -Infinity])('firstNonFinite finds %d anywhere', (value) => {
    const backend = make();
    for (const at of [0, 3, 15, 16, 40, 62]) {
      const x = new Float32Array(63).fill(3.4e38);
      x[at] = value;
      x[62] = value;
      expect(backend.kernels.firstNonFinite(backend.put(x))).toBe(at);
    }
    expect(backend.kernels.firstNonFinite(backend.put([1, 2]))).toBe(-1);
    expect(backend.kernels.firstNonFinite(backend.put([]))).toBe(-1);
  });

  it('addFinite adds, and finds what firstNonFinite finds', () => {
    const backend = make();
    for (const n of [0, 1, 31, 32, 33, 63, 100]) {
      const x = Float32Array.from({ length: n }, (_, i) => 1.5 * i - 20);
      const own = Float32Array.from({ length: n }, (_, i) => 3.4e38 / (i + 1));
      const out = backend.put(own);
      expect(backend.kernels.addFinite(out, backend.put(x))).toBe(-1);
      expect(backend.get(out)).toEqual(own.map((value, i) => value + x[i]!));
      for (const at of [0, 30, 32, n - 1].filter((i) => i >= 0 && i < n)) {
        for (const value of [NaN, Infinity, -Infinity]) {
          const bad = x
            .slice()
            .fill(value, at, at + 1)
            .fill(NaN, n - 1);
          expect(backend.kernels.addFinite(backend.put(own), backend.put(bad))).toBe(
            at,
          );
        }
      }
    }
    expect(() =>
      backend.kernels.addFinite(backend.put([1]), backend.put([1, 2])),
    ).toThrow('vectors of 1 and 2 elements');
  });

  it('copyFinite copies all, and finds what firstNonFinite finds', () => {
    const backend = make();
    for (const n of [0, 1, 31, 32, 33, 63, 100]) {
      const x = Float32Array.from({ length: n }, (_, i) => 1.5 * i - 20);
      const bad = [0, 30, 32, n - 1].filter((i) => i >= 0 && i < n);
      for (const at of [-1, ...bad]) {
        for (const value of [NaN, Infinity, -Infinity]) {
          const given = x.slice();
          if (at >= 0) given.fill(value, at, at + 1).fill(NaN, n - 1);
          const out = backend.put(new Float32Array(n));
          expect(backend.kernels.copyFinite(out, backend.put(given))).toBe(at);
          expect(backend.get(out)).toEqual(given);
        }
      }
    }
    expect(() =>
      backend.kernels.copyFinite(backend.put([1]), backend.put([1, 2])),
    ).toThrow('vectors of 1 and 2 elements');
  });

  it('merge adds a’s value first, keeps what cancels, takes empty streams', () => {
    const backend = make();
    const merge = (
      a: [number, number][],
      b: [number, number][],
    ): [number, number][] => {
      const out = backend.arena.allocate(8 * (a.length + b.length));
      return backend.pairs(
        backend.kernels.reduction.merge(
          'sum',
          backend.putStream(a),
          backend.putStream(b),
          out,
        ),
      );
    };
    expect(
      merge(
        [
          [1, 1],
          [4, 2],
          [9, 3],
        ],
        [
          [0, 5],
          [4, -2],
        ],
      ),
    ).toEqual([
      [0, 5],
      [1, 1],
      [4, 0],
      [9, 3],
    ]);
    expect(merge([], [[7, 1]])).toEqual([[7, 1]]);
    expect(merge([[7, 1]], [])).toEqual([[7, 1]]);
    expect(merge([], [])).toEqual([]);
  });

  it('merge is the elementwise sum', () => {
    const backend = make();
    const streams = fc
      .uniqueArray(fc.nat({ max: 60 }), { maxLength: 40 })
      .map((indices) =>
        indices.sort((i, j) => i - j).map((index) => [index, index + 1] as const),
      );
    fc.assert(
      fc.property(streams, streams, (a, b) => {
        const out = backend.arena.allocate(8 * (a.length + b.length));
        const merged = backend.kernels.reduction.merge(
          'sum',
          backend.putStream(a),
          backend.putStream(b),
          out,
        );
        const dense = backend.put(new Float32Array(61));
        backend.kernels.scatterAdd(dense, merged, 1);
        const expected = new Float32Array(61);
        for (const [index, value] of [...a, ...b]) expected[index]! += value;
        expect(backend.get(dense)).toEqual(expected);
        const distinct = new Set([...a, ...b].map(([index]) => index));
        expect(backend.pairs(merged).map(([index]) => index)).toEqual(
          [...distinct].sort((i, j) => i - j),
        );
      }),
    );
  });

  it('a stream that names an element outside is a coded error and changes nothing', () => {
    const backend = make();
    const x = backend.put([1, 2, 3]);
    const stream = backend.putStream([
      [0, 9],
      [3, 9],
    ]);
    const code = expect.objectContaining({ code: 'STREAM_INDEX_OUT_OF_RANGE' });
    expect(() => {
      backend.kernels.scatterAdd(x, stream, 1);
    }).toThrow(code);
    expect(() => {
      backend.kernels.clearAt(x, stream);
    }).toThrow(code);
    expect([...backend.get(x)]).toEqual([1, 2, 3]);
  });

  it('vectors of different lengths are a bug of the caller', () => {
    const { kernels, ...backend } = { kernels: make().kernels, backend: make() };
    const a = backend.backend.put([1, 2]);
    const b = backend.backend.put([1]);
    expect(() => {
      kernels.add(a, b);
    }).toThrow('internal: vectors of 2 and 1 elements');
  });

  it('works on slices that are aligned to an element only', () => {
    const backend = make();
    const whole = backend.put([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const slice = { offset: whole.offset + 4, length: 9 };
    backend.kernels.scale(slice, 2);
    backend.kernels.add(slice, { offset: whole.offset + 8, length: 9 });
    expect(backend.get(whole)[0]).toBe(1);
    expect(backend.get(whole)[10]).toBe(11);
    expect(backend.kernels.twoMeans(slice).minus).toBe(0);
  });
});

describe('kernels of wasm', () => {
  it('survive growth of the arena and share its memory between instances', () => {
    const backend = backends.wasm();
    const x = backend.put([1, -2]);
    backend.arena.allocate(40 * 65_536);
    const y = backend.put([3, 4]);
    backend.kernels.add(y, x);
    expect([...backend.get(y)]).toEqual([4, 2]);
  });
});
