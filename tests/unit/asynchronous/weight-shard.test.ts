/** Pushes that arrive one by one, against synchronous SGD by the book. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shareOf } from '../../../src/agent/asynchronous/bucket-share.ts';
import {
  WeightShard,
  type ShardSettings,
} from '../../../src/agent/asynchronous/weight-shard.ts';
import { runs } from '../../harness/effort.ts';

const N = 7;
const ITERATIONS = 6;
const whole = [{ start: 0, at: 0, length: N }];

const gradientOf = (worker: number, iteration: number): Float32Array =>
  Float32Array.from({ length: N }, (_, i) =>
    Math.sin(1 + 3 * i + 7 * worker + 11 * iteration),
  );
const begin = Float32Array.from({ length: N }, (_, i) => Math.cos(i));

/** v ← μ·v + ḡ + λ·x; x ← x − η·(…), on doubles. */
function byTheBook(
  { momentum, nesterov, weightDecay, workers }: ShardSettings,
  lrOf: (iteration: number) => number,
): number[] {
  const x = Array.from(begin);
  const v = new Array<number>(N).fill(0);
  for (let t = 0; t < ITERATIONS; t++) {
    const gradients = Array.from({ length: workers }, (_, worker) =>
      gradientOf(worker, t),
    );
    for (let i = 0; i < N; i++) {
      const mean = gradients.reduce((sum, g) => sum + g[i]!, 0) / workers;
      const g = mean + weightDecay * x[i]!;
      v[i] = momentum * v[i]! + g;
      x[i]! -= lrOf(t) * (nesterov ? g + momentum * v[i]! : v[i]!);
    }
  }
  return x;
}

const lrOf = (iteration: number): number => 0.1 / (1 + iteration);

describe('a shard of the weights', () => {
  it.each([
    { momentum: 0, nesterov: false, weightDecay: 0 },
    { momentum: 0, nesterov: false, weightDecay: 0.1 },
    { momentum: 0.9, nesterov: false, weightDecay: 0 },
    { momentum: 0.9, nesterov: false, weightDecay: 0.1 },
    { momentum: 0.9, nesterov: true, weightDecay: 0.1 },
  ])('moves as synchronous SGD does, in any order within iterations: %j', (given) => {
    const settings = { ...given, workers: 3 };
    const expected = byTheBook(settings, lrOf);
    let bits: Float64Array | undefined;
    const order = fc.shuffledSubarray([0, 1, 2], { minLength: 3 });
    const orders = fc.array(order, { minLength: ITERATIONS, maxLength: ITERATIONS });
    fc.assert(
      fc.property(orders, (all) => {
        const shard = new WeightShard(begin, settings);
        for (const [t, workers] of all.entries()) {
          shard.decay(whole, lrOf(t));
          for (const worker of workers) {
            shard.push(worker, whole, gradientOf(worker, t), lrOf(t));
          }
        }
        for (const [i, value] of shard.weights.entries()) {
          expect(value).toBeCloseTo(expected[i]!, 6);
        }
        // Whatever the order.
        bits ??= shard.weights;
        expect(shard.weights).toEqual(bits);
      }),
      { numRuns: runs(20) },
    );
  });

  it.each([0, 0.9])(
    'without decay any order at all comes to the same, μ = %d',
    (momentum) => {
      const settings = { momentum, nesterov: false, weightDecay: 0, workers: 2 };
      const shard = new WeightShard(begin, settings);
      // One worker is done before the other begins.
      for (const worker of [1, 0]) {
        for (let t = 0; t < ITERATIONS; t++) {
          shard.push(worker, whole, gradientOf(worker, t), lrOf(t));
        }
      }
      for (const [i, value] of byTheBook(settings, lrOf).entries()) {
        expect(shard.weights[i]).toBeCloseTo(value, 6);
      }
    },
  );

  it.each([0, 0.9])(
    'takes entries for the gradient that they are, μ = %d',
    (momentum) => {
      const settings = { momentum, nesterov: true, weightDecay: 0, workers: 2 };
      const [dense, sparse] = [
        new WeightShard(begin, settings),
        new WeightShard(begin, settings),
      ];
      // Of a bucket that has elements 10…14 in two pieces of the shard, 4 and 5, then 0…2.
      const pieces = [
        { start: 0, at: 4, length: 2 },
        { start: 2, at: 0, length: 3 },
      ];
      const share = { start: 10, length: 5, pieces };
      for (let t = 0; t < 3; t++) {
        dense.push(1, pieces, Float32Array.of(3, 0, 0, 0, -2), 0.5);
        const indices = Uint32Array.of(10, 14);
        sparse.pushEntries(1, share, { indices, values: Float32Array.of(3, -2) }, 0.5);
      }
      expect(sparse.weights).toEqual(dense.weights);
      expect(sparse.weights[4]).toBeLessThan(begin[4]!);
      expect(sparse.weights[3]).toBe(begin[3]!);
    },
  );

  it.each([
    [0, false],
    [0.9, false],
    [0.9, true],
  ])(
    'takes what is added for a part of the push, μ = %d, Nesterov %s',
    (momentum, nesterov) => {
      const settings = { momentum, nesterov, weightDecay: 0, workers: 2 };
      const [once, twice] = [
        new WeightShard(begin, settings),
        new WeightShard(begin, settings),
      ];
      for (let t = 0; t < 3; t++) {
        const [a, b] = [gradientOf(0, t), gradientOf(5, t)];
        once.push(
          0,
          whole,
          a.map((value, i) => value + b[i]!),
          0.25,
        );
        twice.push(0, whole, a, 0.25);
        twice.add(0, b, 0.25);
      }
      for (const [i, value] of once.weights.entries()) {
        expect(twice.weights[i]).toBeCloseTo(value, 6);
      }
    },
  );
});

describe('the share of a server in a bucket', () => {
  it('is one range of the bucket, whatever the runs, and shares cover it once', () => {
    const run = fc.record({ gap: fc.nat(5), length: fc.integer({ min: 1, max: 9 }) });
    const split = fc.array(run, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(split, fc.integer({ min: 1, max: 5 }), (drawn, servers) => {
        let flat = 0;
        let start = 0;
        const runsOf = drawn.map(({ gap, length }) => {
          flat += gap + length;
          start += length;
          return { flat: flat - length, start: start - length, length };
        });
        const size = Math.ceil(flat / servers);
        /** Where in the flat vector each element of the bucket is served. */
        const served: number[] = [];
        for (let server = 0; server < servers; server++) {
          const range = { start: server * size, length: size };
          const share = shareOf({ runs: runsOf }, range);
          expect(share.start === served.length || share.length === 0).toBe(true);
          for (const { at, length, start: from } of share.pieces) {
            expect(from).toBe(served.length - share.start);
            for (let i = 0; i < length; i++) served.push(range.start + at + i);
          }
          if (share.length > 0) expect(served.length).toBe(share.start + share.length);
        }
        const expected = runsOf.flatMap(({ flat: first, length }) =>
          Array.from({ length }, (_, i) => first + i),
        );
        expect(served).toEqual(expected);
      }),
      { numRuns: runs(100) },
    );
  });
});
