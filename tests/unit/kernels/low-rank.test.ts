/** The products of the low-rank kernels: against f64, and one backend against the other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Matrix } from '../../../src/agent/kernels/low-rank.ts';
import { runs } from '../../harness/effort.ts';
import { bellShaped } from './adversarial-inputs.ts';
import { backends, bytes, type Backend } from './backends.ts';

interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly rank: number;
}

const shapes: Shape[] = [
  { rows: 1, columns: 1, rank: 1 },
  { rows: 3, columns: 17, rank: 2 },
  { rows: 64, columns: 31, rank: 4 },
  { rows: 200, columns: 513, rank: 3 },
];

function products(
  backend: Backend,
  { rows, columns, rank }: Shape,
  scale = 1,
): { left: Float32Array; right: Float32Array; sum: Float32Array } {
  const { kernels } = backend;
  const x = bellShaped(rows * columns, 1).map((value) => value * scale);
  const matrix: Matrix = { offset: backend.put(x).offset, rows, columns };
  const left = backend.put(bellShaped(rows * rank, 2));
  const right = backend.put(bellShaped(columns * rank, 3));
  const leftOut = backend.put(new Float32Array(rows * rank).fill(NaN));
  const rightOut = backend.put(new Float32Array(columns * rank).fill(NaN));
  kernels.lowRank.timesFactor(matrix, right, leftOut);
  kernels.lowRank.transposedTimesFactor(matrix, left, rightOut);
  kernels.lowRank.addProduct(matrix, left, right, -0.5);
  return {
    left: backend.get(leftOut),
    right: backend.get(rightOut),
    sum: backend.get({ offset: matrix.offset, length: rows * columns }),
  };
}

describe.each(Object.entries(backends))('%s', (_, make) => {
  it.each(shapes)('multiplies $rows × $columns, rank $rank', (shape) => {
    const { rows, columns, rank } = shape;
    const m = bellShaped(rows * columns, 1);
    const l = bellShaped(rows * rank, 2);
    const r = bellShaped(columns * rank, 3);
    const { left, right, sum } = products(make(), shape);
    const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
    const total = (values: number[]): number => values.reduce((a, b) => a + b, 0);
    const tolerance = 1e-5 * Math.sqrt(Math.max(rows, columns));
    for (const c of range(rank)) {
      for (const i of range(rows)) {
        const exact = total(
          range(columns).map((j) => m[i * columns + j]! * r[c * columns + j]!),
        );
        expect(Math.abs(left[c * rows + i]! - exact)).toBeLessThan(tolerance);
      }
      for (const j of range(columns)) {
        const exact = total(
          range(rows).map((i) => m[i * columns + j]! * l[c * rows + i]!),
        );
        expect(Math.abs(right[c * columns + j]! - exact)).toBeLessThan(tolerance);
      }
    }
    const worst = sum.reduce((most, value, at) => {
      const i = Math.floor(at / columns);
      const j = at % columns;
      const product = total(
        range(rank).map((c) => l[c * rows + i]! * r[c * columns + j]!),
      );
      return Math.max(most, Math.abs(value - (m[at]! - 0.5 * product)));
    }, 0);
    expect(worst).toBeLessThan(tolerance);
  });

  it('refuses factors that do not fit', () => {
    const backend = make();
    const matrix = {
      offset: backend.put(new Float32Array(6)).offset,
      rows: 2,
      columns: 3,
    };
    const short = backend.put([1, 2]);
    expect(() => {
      backend.kernels.lowRank.timesFactor(matrix, short, short);
    }).toThrow('internal:');
  });
});

it('backends agree on every shape, bit for bit where sums have one order', () => {
  const sizes = fc.integer({ min: 1, max: 40 });
  const scales = fc.constantFrom(1, 1e-30, 1e30);
  fc.assert(
    fc.property(sizes, sizes, fc.integer({ min: 1, max: 5 }), scales, (...of) => {
      const [rows, columns, rank, scale] = of;
      const shape = { rows, columns, rank };
      const expected = products(backends.reference(), shape, scale);
      const actual = products(backends.wasm(), shape, scale);
      expect(bytes(actual.right).equals(bytes(expected.right))).toBe(true);
      expect(bytes(actual.sum).equals(bytes(expected.sum))).toBe(true);
      actual.left.forEach((value, i) => {
        expect(Math.abs(value - expected.left[i]!)).toBeLessThan(1e-5 * scale);
      });
    }),
    { numRuns: runs(40) },
  );
});
