/**
 * Every method against a slow oracle, written here in plain arithmetic from the papers'
 * definitions and sharing no code with the method. A new method adds one entry to
 * `GOLDEN`; everything below is done for each entry.
 *
 * Inputs are integers chosen so that every sum, mean and division by P is exact in f32:
 * results are compared with ===, whatever the order of additions.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/json.ts';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/compression/registry.ts';
import { Arena } from '../../../src/agent/kernels/arena.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld, type Form, type WorldOptions } from './simulated-world.ts';

interface Golden {
  readonly method: string;
  readonly parameters: JsonObject;
  /** Forms in which a collective may leave the sum of this method's payloads. */
  readonly forms: readonly Form[];
  /** Payload of the vector `PINNED`, hexadecimal: the wire format must not drift. */
  readonly payload: string;
  /** A new world of P ranks of n elements: from each rank's gradient to its result. */
  readonly oracle: (P: number, n: number) => (gradients: number[][]) => number[][];
}

const PINNED = [1, -2, 0.5, 4, -8, 2, -0.25, 0.5];

/** f32 words, as they lie in memory. */
const f32 = (...values: number[]): string =>
  Buffer.from(Float32Array.from(values).buffer).toString('hex');
const u32 = (...values: number[]): string =>
  Buffer.from(Uint32Array.from(values).buffer).toString('hex');

const GOLDEN: readonly Golden[] = [
  {
    method: 'none',
    parameters: {},
    forms: ['dense'],
    payload: f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'topk',
    parameters: { ratio: 0.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: errorFeedbackTopK((n) => n / 4),
  },
  {
    method: 'topk',
    parameters: { k: 3, ratio: 1 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(1, 3, 4) + f32(-2, 4, -8),
    oracle: errorFeedbackTopK(() => 3),
  },
  {
    method: 'topk',
    parameters: { bucket: 5, ratio: 0.4 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4, 5) + f32(4, -8, 2),
    oracle: errorFeedback((p) => largestPerRun(p, 5, 2, 1)),
  },
  {
    method: 'a2sgd',
    parameters: {},
    forms: ['dense', 'gathered'],
    payload: f32(8 / 5, 10.25 / 3),
    oracle: (P, n) => twoMeans(P, [[0, n]]),
  },
  {
    method: 'a2sgd',
    parameters: { mode: 'allgather', granularity: 'tensor' },
    forms: ['gathered'],
    payload: f32(5.5 / 3, 2, 1.25, 8.25 / 2),
    oracle: (P, n) =>
      twoMeans(P, [
        [0, n / 2],
        [n / 2, n],
      ]),
  },
];

/** p = m + ∇; what is chosen of p is sent and cleared from m; the average is applied. */
function errorFeedback(
  choose: (p: readonly number[], iteration: number) => ReadonlySet<number>,
): Golden['oracle'] {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => new Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const p = gradient.map((value, i) => value + residuals[rank]![i]!);
        const chosen = choose(p, iteration);
        residuals[rank] = p.map((value, i) => (chosen.has(i) ? 0 : value));
        return p.map((value, i) => (chosen.has(i) ? value : 0));
      });
      iteration++;
      return everyRank(P, average(sent));
    };
  };
}

function errorFeedbackTopK(k: (n: number) => number): Golden['oracle'] {
  return errorFeedback((p) => largest(p, k(p.length)));
}

/** Indices of the k largest |p|, ties by lower index. */
function largest(p: readonly number[], k: number): ReadonlySet<number> {
  const order = p.map((_, i) => i);
  order.sort((i, j) => Math.abs(p[j]!) - Math.abs(p[i]!) || i - j);
  return new Set(order.slice(0, k));
}

/** k of each run, tailK of the last and shorter one. */
function largestPerRun(
  p: readonly number[],
  run: number,
  k: number,
  tailK: number,
): ReadonlySet<number> {
  const chosen = new Set<number>();
  for (let start = 0; start < p.length; start += run) {
    const entries = p.slice(start, start + run);
    for (const i of largest(entries, entries.length === run ? k : tailK)) {
      chosen.add(start + i);
    }
  }
  return chosen;
}

/** enc(g) = ±μ by sign; ε = g − enc(g); ĝ = ε ± μ̄, for each group [from, to). */
function twoMeans(
  P: number,
  groups: readonly (readonly [number, number])[],
): (gradients: number[][]) => number[][] {
  return (gradients) => {
    const results = gradients.map((gradient) => [...gradient]);
    for (const [from, to] of groups) {
      const means = gradients.map((gradient) => {
        const run = gradient.slice(from, to);
        return {
          plus: mean(run.filter((g) => g >= 0)),
          minus: mean(run.filter((g) => g < 0).map((g) => -g)),
        };
      });
      const plus = mean(means.map((one) => one.plus));
      const minus = mean(means.map((one) => one.minus));
      for (let rank = 0; rank < P; rank++) {
        for (let i = from; i < to; i++) {
          const g = gradients[rank]![i]!;
          const own = g >= 0 ? means[rank]!.plus : -means[rank]!.minus;
          const epsilon = g - own;
          results[rank]![i] = epsilon + (g >= 0 ? plus : -minus);
        }
      }
    }
    return results;
  };
}

function average(vectors: readonly number[][]): number[] {
  return vectors[0]!.map((_, i) => mean(vectors.map((vector) => vector[i]!)));
}

function mean(values: readonly number[]): number {
  if (values.length === 0) return 0;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function everyRank(P: number, result: number[]): number[][] {
  return Array.from({ length: P }, () => result);
}

const LENGTH = 128;
const HALVES = [
  { name: 'a', start: 0, length: LENGTH / 2, shape: [LENGTH / 2] },
  { name: 'b', start: LENGTH / 2, length: LENGTH / 2, shape: [8, LENGTH / 16] },
];

/**
 * Multiples of 60·64: sums over up to 5 ranks divide by P, and sums over the 32 or 64
 * entries of each sign by their number, without rounding. Few magnitudes: many ties.
 */
function gradientOf(rank: number, iteration: number): number[] {
  return Array.from({ length: LENGTH }, (_, i) => {
    const magnitude = 1 + ((i * 37 + rank * 11 + iteration * 5) % 13);
    const negative = (i + rank + iteration) % 2 === 1;
    return (negative ? -magnitude : magnitude - 1) * 60 * 64;
  });
}

function gradientsOf(P: number, iteration: number): number[][] {
  return Array.from({ length: P }, (_, rank) => gradientOf(rank, iteration));
}

/** Every number ===, so that −0 is 0. */
function expectEqual(actual: readonly Float32Array[], expected: number[][]): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((result, rank) => {
    expect(result.length).toBe(expected[rank]!.length);
    const at = result.findIndex((value, i) => value !== expected[rank]![i]);
    expect(at < 0 ? undefined : [rank, at, result[at], expected[rank]![at]]).toBe(
      undefined,
    );
  });
}

it('has an entry for every method of the registry', () => {
  expect(new Set(GOLDEN.map(({ method }) => method))).toEqual(new Set(methods.keys()));
});

describe.each(GOLDEN)('$method $parameters', ({ method, parameters, ...golden }) => {
  describe.each(Object.entries(backends))('on %s kernels', (_, makeBackend) => {
    const makeKernels: WorldOptions['makeKernels'] = (arena) =>
      makeBackend(arena).kernels;
    const world = (ranks: number, form: Form = golden.forms[0]!): SimulatedWorld =>
      new SimulatedWorld({
        method,
        parameters,
        ranks,
        form,
        length: LENGTH,
        tensors: HALVES,
        makeKernels,
      });

    it.each(golden.forms)(
      'equals the oracle exactly for P = 1…5, sums %s',
      async (form) => {
        for (let P = 1; P <= 5; P++) {
          const simulated = world(P, form);
          const step = golden.oracle(P, LENGTH);
          for (let iteration = 0; iteration < 6; iteration++) {
            const gradients = gradientsOf(P, iteration);
            const expected = step(gradients);
            const actual = await simulated.exchange(iteration, gradients);
            expectEqual(actual, expected);
          }
        }
      },
    );

    it('sends the pinned bytes', async () => {
      const simulated = new SimulatedWorld({
        method,
        parameters,
        ranks: 1,
        length: PINNED.length,
        tensors: [
          { name: 'a', start: 0, length: 4, shape: [4] },
          { name: 'b', start: 4, length: 4, shape: [4] },
        ],
        makeKernels,
      });
      await simulated.exchange(0, [PINNED]);
      expect(Buffer.from(simulated.sent[0]!).toString('hex')).toBe(golden.payload);
    });

    it('goes on from a saved state as if it had not stopped', async () => {
      const first = world(3);
      for (let i = 0; i < 3; i++) await first.exchange(i, gradientsOf(3, i));
      const second = world(3);
      second.restore(first.save());
      for (let i = 3; i < 6; i++) {
        const gradients = gradientsOf(3, i);
        expect(await second.exchange(i, gradients)).toEqual(
          await first.exchange(i, gradients),
        );
        expect(second.sent).toEqual(first.sent);
      }
    });

    it('refuses a state that is not its own', () => {
      const simulated = world(1);
      const saved = simulated.save().map((one) => ({
        ...one,
        state: Uint8Array.of(...one.state, 1),
      }));
      expect(() => {
        simulated.restore(saved);
      }).toThrow(expect.objectContaining({ code: 'METHOD_STATE_INVALID' }));
    });

    it('allocates nothing in the arena once it has run', async () => {
      const simulated = world(2);
      await simulated.exchange(0, gradientsOf(2, 0));
      const mark = simulated.arena.allocate(1 << 20);
      for (let i = 1; i < 5; i++) await simulated.exchange(i, gradientsOf(2, i));
      const next = simulated.arena.allocate(1 << 20);
      expect(next.offset).toBe(mark.offset + mark.bytes);
    });

    it('gives its memory back', () => {
      const arena = new Arena();
      const residual = arena.allocateVector(LENGTH);
      const mark = arena.allocate(16);
      arena.release(mark);
      const definition = findMethod(method);
      const compressor = definition.create({
        length: LENGTH,
        tensors: HALVES,
        parameters: validateParameters(definition, parameters),
        seed: 1,
        rank: 0,
        world: 1,
        bucket: 0,
        arena,
        kernels: makeKernels(arena),
        residual,
      });
      compressor[Symbol.dispose]();
      expect(arena.allocate(16).offset).toBe(mark.offset);
    });

    it('takes a bucket of one element', async () => {
      const simulated = new SimulatedWorld({
        method,
        parameters,
        ranks: 2,
        length: 1,
        form: golden.forms[0]!,
        makeKernels,
      });
      const [a, b] = await simulated.exchange(0, [[3], [5]]);
      expect([...a!, ...b!]).toEqual([4, 4]);
    });

    it('keeps its promise about replicas', async () => {
      const simulated = world(4);
      const results = await simulated.exchange(0, gradientsOf(4, 0));
      const same = results.every((result) =>
        Buffer.from(result.buffer).equals(Buffer.from(results[0]!.buffer)),
      );
      expect(same).toBe(simulated.method.replicas === 'identical');
    });
  });
});
