/** PowerSGD: what its factors can and cannot say, and that all ranks say the same. */
import { describe, expect, it } from 'vitest';
import { normalize, orthonormalize } from '../../../src/agent/methods/orthonormal.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends, bytes } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const ROWS = 40;
const COLUMNS = 60;
const VECTOR = 10;
const N = ROWS * COLUMNS + VECTOR;

function worldOf(
  P: number,
  parameters: Record<string, number | boolean>,
): SimulatedWorld {
  return new SimulatedWorld({
    method: 'powersgd',
    parameters,
    ranks: P,
    length: N,
    tensors: [
      { name: 'kernel', start: 0, length: ROWS * COLUMNS, shape: [ROWS, 3, 20] },
      { name: 'bias', start: ROWS * COLUMNS, length: VECTOR, shape: [VECTOR] },
    ],
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
}

/** A matrix of this rank, whose row and column spaces are those of `space`, and a vector. */
function gradientOf(rank: number, seed: number, space = seed): Float32Array {
  const left = bellShaped(ROWS * rank, space);
  const right = bellShaped(COLUMNS * rank, space + 1);
  const weights = bellShaped(rank, seed + 2);
  const gradient = bellShaped(N, seed + 3);
  for (let i = 0; i < ROWS; i++) {
    for (let j = 0; j < COLUMNS; j++) {
      let sum = 0;
      for (let c = 0; c < rank; c++) {
        sum += (1 + weights[c]!) * left[c * ROWS + i]! * right[c * COLUMNS + j]!;
      }
      gradient[i * COLUMNS + j] = sum;
    }
  }
  return gradient;
}

function average(vectors: readonly Float32Array[]): Float64Array {
  return Float64Array.from(vectors[0]!, (_, i) =>
    vectors.reduce((sum, vector) => sum + vector[i]! / vectors.length, 0),
  );
}

function relativeError(actual: Float32Array, expected: Float64Array): number {
  const distance = Math.hypot(...expected.map((value, i) => value - actual[i]!));
  return distance / Math.hypot(...expected);
}

describe('powersgd', () => {
  it.each([
    { P: 1, rank: 2, of: 2 },
    { P: 3, rank: 4, of: 2 },
    { P: 4, rank: 5, of: 5 },
  ])('is exact at P = $P for rank $rank of a sum of rank $of', async (shape) => {
    const world = worldOf(shape.P, { rank: shape.rank });
    const gradients = Array.from({ length: shape.P }, (_, rank) =>
      gradientOf(shape.of, 50 * rank + 7, 1),
    );
    const [result] = await world.exchange(0, gradients);
    expect(relativeError(result!, average(gradients))).toBeLessThan(1e-5);
  });

  it('is not exact for less, and comes closer with every iteration', async () => {
    const world = worldOf(1, { rank: 2 });
    const gradient = gradientOf(30, 3);
    const zero = new Float32Array(N);
    const applied = new Float32Array(N);
    const errors: number[] = [];
    for (let iteration = 0; iteration < 12; iteration++) {
      const [result] = await world.exchange(iteration, [iteration ? zero : gradient]);
      result!.forEach((value, i) => {
        applied[i]! += value;
      });
      errors.push(relativeError(applied, average([gradient])));
    }
    expect(errors[0]).toBeGreaterThan(0.1);
    errors.reduce((before, error) => {
      expect(error).toBeLessThan(before);
      return error;
    });
  });

  it('gives all ranks the same bits, with and without a warm start', async () => {
    for (const warmStart of [true, false]) {
      const world = worldOf(4, { rank: 3, warmStart });
      for (let iteration = 0; iteration < 5; iteration++) {
        const gradients = [0, 1, 2, 3].map((rank) =>
          gradientOf(30, 10 * iteration + rank),
        );
        const [first, ...others] = await world.exchange(iteration, gradients);
        for (const other of others)
          expect(bytes(other).equals(bytes(first!))).toBe(true);
      }
    }
  });

  it('finds a matrix that was 0 before: no column of the start stays lost', async () => {
    const world = worldOf(2, { rank: 3 });
    const zero = new Float32Array(N);
    for (let i = 0; i < 3; i++) await world.exchange(i, [zero, zero]);
    const gradient = gradientOf(3, 9);
    const [result] = await world.exchange(3, [gradient, gradient]);
    expect(relativeError(result!, average([gradient]))).toBeLessThan(1e-5);
  });

  it('does not care for the scale of a gradient', async () => {
    for (const scale of [1e-30, 1e15]) {
      const world = worldOf(2, { rank: 2 });
      for (let iteration = 0; iteration < 4; iteration++) {
        const gradient = gradientOf(2, iteration, 1).map((x) => x * scale);
        const [result] = await world.exchange(iteration, [gradient, gradient]);
        expect(relativeError(result!, average([gradient]))).toBeLessThan(1e-4);
      }
    }
  });

  it('sends a matrix whole that factors would not make smaller', async () => {
    const world = new SimulatedWorld({
      method: 'powersgd',
      parameters: { rank: 2 },
      ranks: 1,
      length: 12,
      tensors: [{ name: 'thin', start: 0, length: 12, shape: [6, 2] }],
      makeKernels: (arena) => backends.wasm(arena).kernels,
    });
    const gradient = bellShaped(12);
    const [result] = await world.exchange(0, [gradient]);
    expect(result).toEqual(gradient);
    expect(world.sent[0]!.length).toBe(48);
  });
});

describe('orthonormalize', () => {
  const dot = (x: Float32Array, y: Float32Array): number =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0);

  it('makes columns orthonormal, however alike they were', () => {
    const rows = 100;
    const base = bellShaped(rows, 1);
    const columns = Float32Array.from({ length: 4 * rows }, (_, i) => {
      const noise = bellShaped(4 * rows, 2)[i]!;
      return base[i % rows]! + 1e-4 * noise;
    });
    orthonormalize(columns, rows);
    const at = (c: number): Float32Array => columns.subarray(c * rows, (c + 1) * rows);
    for (let a = 0; a < 4; a++) {
      for (let b = 0; b <= a; b++) {
        expect(Math.abs(dot(at(a), at(b)) - (a === b ? 1 : 0))).toBeLessThan(1e-6);
      }
    }
  });

  it('leaves 0 of a column that others span', () => {
    const columns = Float32Array.of(3, 4, -6, -8, 0, 0, 1, 1);
    orthonormalize(columns, 2);
    expect([...columns.subarray(2, 6)]).toEqual([0, 0, 0, 0]);
    expect(Math.abs(dot(columns.subarray(0, 2), columns.subarray(6)))).toBeLessThan(
      1e-7,
    );
  });

  it('normalises what f32 cannot square', () => {
    const x = Float32Array.of(3e-30, 4e-30);
    expect(normalize(x)).toBeCloseTo(5e-30, 36);
    expect(x[0]).toBeCloseTo(0.6, 6);
  });
});
