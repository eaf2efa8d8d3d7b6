/**
 * Sparsifiers and low-rank factors on the inputs that break careless code: whatever the
 * size and the values, both backends send the same bytes, nothing is lost and nothing
 * that was not there appears.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { effort } from '../../harness/effort.ts';
import { INPUTS, SIZES, TELLING } from '../kernels/adversarial-inputs.ts';
import { backends, bytes } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const METHODS: readonly (readonly [string, JsonObject])[] = [
  ['topk', { ratio: 0.05, bucket: 100 }],
  ['randomk', { ratio: 0.05 }],
  ['threshold', { threshold: 0.7 }],
  ['gaussiank', { ratio: 0.05 }],
  ['dct', { ratio: 0.05, lifeSpan: 2 }],
  ['dgc', { ratio: 0.05, clip: 3 }],
  ['scalecom', { ratio: 0.05 }],
  ['powersgd', { rank: 3 }],
];

/** What left a rank's memory, and how much went through it. */
interface Given {
  readonly sent: Float64Array;
  readonly size: Float64Array;
}

/**
 * A rank's books: what it had kept back and got is what it keeps back now and has sent. Of
 * `dgc` it gets velocities, u ← 0.9·u + ∇, cleared where they were sent, the gradient clipped.
 */
class Account {
  readonly #method: string;
  readonly #velocity: Float64Array;
  #kept: Float32Array;

  constructor(method: string, n: number) {
    this.#method = method;
    this.#velocity = new Float64Array(n);
    this.#kept = new Float32Array(n);
  }

  settle(gradient: Float32Array, residual: Float32Array, payload: Uint8Array): Given {
    const got = this.#method === 'dgc' ? this.#accelerated(gradient) : gradient;
    const before = this.#kept;
    const sent = new Float64Array(residual.length);
    const size = new Float64Array(residual.length);
    for (const [i, after] of residual.entries()) {
      sent[i] = before[i]! + got[i]! - after;
      size[i] = Math.abs(before[i]!) + Math.abs(got[i]!);
    }
    if (this.#method === 'dgc') {
      const count = payload.length / 8;
      const indices = new Uint32Array(payload.slice(0, 4 * count).buffer);
      for (const index of indices) this.#velocity[index] = 0;
    }
    this.#kept = residual;
    return { sent, size };
  }

  #accelerated(gradient: Float32Array): Float64Array {
    const norm = Math.sqrt(gradient.reduce((sum, value) => sum + value * value, 0));
    const limit = 3 / Math.sqrt(2);
    const factor = norm > limit ? limit / norm : 1;
    for (const [i, value] of gradient.entries()) {
      this.#velocity[i] = 0.9 * this.#velocity[i]! + factor * value;
    }
    return this.#velocity.slice();
  }
}

/**
 * The average is that of what has left the ranks, as far as f32 goes.
 * @param coarse whether roundings are as large as those of the largest element: products
 * of matrices, and clipping by a norm
 */
function expectNothingLost(
  average: Float32Array,
  given: readonly Given[],
  coarse: boolean,
): void {
  const largest = Math.max(...given.map(({ size }) => largestOf(size)));
  const lost = average.findIndex((value, i) => {
    const expected = given.reduce((sum, { sent }) => sum + sent[i]!, 0) / given.length;
    const own = given.reduce((sum, { size }) => sum + size[i]!, 0);
    const rounding = coarse ? 1e-5 * largest : 2 ** -20 * own;
    return Math.abs(value - expected) > rounding + 2 ** -147;
  });
  expect(lost).toBe(-1);
}

const largestOf = (values: Float64Array): number =>
  values.reduce((most, value) => Math.max(most, value), 0);

const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });
const sizes = SIZES.filter((n) => n < 1e5);

describe.each(METHODS)('%s %j', (method, parameters) => {
  const worldOf = (length: number, backend: keyof typeof backends): SimulatedWorld =>
    new SimulatedWorld({
      method,
      parameters,
      ranks: 2,
      length,
      tensors: [
        { name: 'w', start: 0, length, shape: length % 3 ? [length] : [3, length / 3] },
      ],
      makeKernels: (arena) => backends[backend](arena).kernels,
    });

  it.each(NAMES)('%s', async (name) => {
    for (const n of sizes) {
      const x = INPUTS[name]!(n);
      const gradients = [x, x.map((value) => -value / 2)];
      const accounts = gradients.map(() => new Account(method, n));
      const worlds = [worldOf(n, 'reference'), worldOf(n, 'wasm')] as const;
      for (let iteration = 0; iteration < 3; iteration++) {
        const [expected, actual] = await Promise.all(
          worlds.map(async (world) => await world.exchange(iteration, gradients)),
        );
        expect(bytes(actual![1]!).equals(bytes(actual![0]!))).toBe(true);
        expect(actual![0]!.every(Number.isFinite)).toBe(true);
        const given = accounts.map((account, rank) => {
          const { sent } = worlds[1];
          return account.settle(
            gradients[rank]!,
            worlds[1].residual(rank),
            sent[rank]!,
          );
        });
        expectNothingLost(actual![0]!, given, ['dgc', 'powersgd'].includes(method));
        // Only products of matrices add up in another order.
        if (method === 'powersgd') continue;
        expect(bytes(actual![0]!).equals(bytes(expected![0]!))).toBe(true);
        expect(worlds[1].sent).toEqual(worlds[0].sent);
        for (const rank of [0, 1]) {
          expect(worlds[1].residual(rank)).toEqual(worlds[0].residual(rank));
        }
      }
    }
  });
});
