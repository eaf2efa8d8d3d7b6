/**
 * Vectors to compress: bell-shaped and heavy-tailed noise of variance 1, and the gradient of
 * a real network. The same numbers in every run.
 */
import { CounterRandom } from '../../src/agent/kernels/random.ts';
import { recordGradient } from './recorded-gradient.ts';

export const VECTORS = ['gaussian', 'laplace', 'recorded'] as const;
export type VectorName = (typeof VECTORS)[number];

export interface BenchVector {
  readonly values: Float32Array;
  /** The vector's source, in words. */
  readonly note: string;
}

export async function makeVector(name: VectorName, n: number): Promise<BenchVector> {
  switch (name) {
    case 'gaussian':
      return { values: gaussian(n), note: 'normal, σ = 1' };
    case 'laplace':
      return { values: laplace(n), note: 'Laplace, σ = 1' };
    case 'recorded': {
      const { values, note } = await recordGradient();
      return n < values.length
        ? { values: thinned(values, n), note: `${note}, thinned to ${n}` }
        : { values: repeat(values, n), note: `${note}, repeated to ${n}` };
    }
    default:
      return name satisfies never;
  }
}

/** Box and Muller's. */
function gaussian(n: number): Float32Array {
  const random = new CounterRandom({ seed: 1 });
  const values = new Float32Array(n);
  for (let i = 0; i < n; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform(i)));
    const angle = 2 * Math.PI * random.uniform(i + 1);
    values[i] = radius * Math.cos(angle);
    if (i + 1 < n) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}

/** A Laplace distribution, drawn by its inverse distribution. */
function laplace(n: number): Float32Array {
  const random = new CounterRandom({ seed: 2 });
  return new Float32Array(n).map((_, i) => {
    const u = random.uniform(i);
    const magnitude = -Math.log(1 - Math.abs(2 * u - 1)) * Math.SQRT1_2;
    return u < 0.5 ? -magnitude : magnitude;
  });
}

/** Elements from all of the vector: its beginning belongs to pixels that are always black. */
export function thinned(values: Float32Array, n: number): Float32Array {
  return new Float32Array(n).map(
    (_, i) => values[Math.floor((i * values.length) / n)]!,
  );
}

function repeat(values: Float32Array, n: number): Float32Array {
  const repeated = new Float32Array(n);
  for (let i = 0; i < n; i += values.length) {
    repeated.set(values.subarray(0, Math.min(values.length, n - i)), i);
  }
  return repeated;
}
