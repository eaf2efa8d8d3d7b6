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
import { Arena } from '../../../src/agent/memory/arena.ts';
import { CounterRandom, type StreamName } from '../../../src/agent/kernels/random.ts';
import { backends } from '../kernels/backends.ts';
import {
  clipped,
  maximum,
  norm,
  quantizedTopKOracle,
  signOracle,
  signsOfNormOracle,
  stochasticOracle,
} from './quantization-oracles.ts';
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
  /** What two ranks with a bucket of one element make of 3 and 5; default: their average. */
  readonly ofThreeAndFive?: number;
  /** Where results cannot be exact: a bound of the error, relative to the largest. */
  readonly tolerance?: number;
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
    method: 'topk',
    parameters: { k: 3, quantize: { bits: 4, bucket: 2 } },
    forms: ['gathered'],
    payload: u32(3) + u32(1, 3, 4) + f32(4, 8) + '7c0f0000',
    oracle: quantizedTopKOracle(3, 7, 2),
  },
  {
    method: 'qsgd',
    parameters: {},
    forms: ['gathered'],
    payload: f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'qsgd',
    parameters: { minElements: 0, bucket: 24 },
    forms: ['gathered'],
    payload: f32(4) + 'b2710000' + f32(8) + '2f080000',
    oracle: stochasticOracle(7, 24, maximum),
  },
  {
    method: 'qsgd',
    parameters: { minElements: 0, levels: 3, scale: 'l2', coding: 'elias' },
    forms: ['gathered'],
    payload: f32(Math.sqrt(21.25)) + '040c0000' + f32(Math.sqrt(68.3125)) + '38600000',
    oracle: stochasticOracle(3, 512, norm),
  },
  {
    method: 'terngrad',
    parameters: { minElements: 0, clip: 1 },
    forms: ['gathered'],
    payload: '437808405d000000bef7774027000000',
    oracle: stochasticOracle(1, 512, clipped(1)),
  },
  {
    method: 'qgd',
    parameters: { minElements: 0 },
    forms: ['gathered'],
    payload:
      f32(Math.sqrt(21.25)) +
      u32(2, 2 ** 31 + 1, 3) +
      f32(Math.sqrt(68.3125)) +
      u32(2, 2 ** 31, 1),
    oracle: signsOfNormOracle,
  },
  {
    method: 'onebit',
    parameters: { minElements: 0, bucket: 24 },
    forms: ['gathered'],
    payload: f32(5.5 / 3, -2) + u32(2) + f32(2.5 / 2, -8.25 / 2) + u32(5),
    oracle: signOracle(24),
    // Means are sums of 28 bits of an entry (kernels/fixed-point.ts), the oracle's of 53.
    tolerance: 1e-6,
  },
  {
    method: 'randomk',
    parameters: { ratio: 0.25 },
    forms: ['dense'],
    payload: f32(4, 0.5),
    oracle: errorFeedback((p, iteration) => drawn(p.length, p.length / 4, iteration)),
  },
  {
    method: 'threshold',
    parameters: { threshold: 2 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(1, 3, 4, 5) + f32(-2, 4, -8, 2),
    oracle: errorFeedback((p) => reaching(p, 2)),
  },
  {
    method: 'nonzero',
    parameters: { minElements: 0 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(0, 1, 2, 3, 4, 5, 6, 7) + f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'blockcd',
    parameters: { k: 3 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(0, 4, 7) + f32(1, -8, 0.5),
    oracle: unitedBlocks(3),
    // The second rank's alone: the first has an empty slice.
    ofThreeAndFive: 5,
  },
  {
    method: 'gaussiank',
    parameters: { ratio: 0.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: errorFeedback((p) => gaussianChoice(p, 0.25)),
  },
  {
    method: 'dct',
    parameters: { ratio: 0.25, lifeSpan: 4, band: 1.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: (P, n) => {
      // One choice for each rank: thresholds are its own.
      const choices = Array.from({ length: P }, () => livingThresholds(0.25, 4, 1.25));
      return errorFeedback((p, iteration, rank) => choices[rank]!(p, iteration))(P, n);
    },
  },
  {
    method: 'dgc',
    parameters: { ratio: 0.25, momentum: 0.5 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: momentumCorrection(0.25, 0.5),
  },
  {
    method: 'scalecom',
    parameters: { ratio: 0.25, beta: 0.5, selection: 'exact' },
    forms: ['dense'],
    payload: f32(4, -8),
    oracle: leaderSelects(0.5, (p) => largest(p, p.length / 4)),
  },
  {
    method: 'scalecom',
    parameters: { ratio: 0.25, beta: 1, selection: 'chunk' },
    forms: ['dense'],
    payload: f32(4, -8),
    oracle: leaderSelects(1, (p) => largestPerRun(p, 4, 1, 0)),
  },
  {
    method: 'powersgd',
    parameters: { rank: 2 },
    forms: ['dense'],
    payload: f32(...PINNED),
    oracle: subspaceIteration(2),
    tolerance: 1e-4,
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
  choose: (
    p: readonly number[],
    iteration: number,
    rank: number,
  ) => ReadonlySet<number>,
): Golden['oracle'] {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => new Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const p = gradient.map((value, i) => value + residuals[rank]![i]!);
        const chosen = choose(p, iteration, rank);
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

/** Each rank's k of a slice of its own, which moves on by one in each iteration; no average. */
function unitedBlocks(k: number): Golden['oracle'] {
  return (P, n) => {
    let iteration = 0;
    return (gradients) => {
      const united = new Array<number>(n).fill(0);
      gradients.forEach((gradient, rank) => {
        const slice = (rank + iteration) % P;
        const own = united
          .map((_, j) => j)
          .filter((j) => j >= Math.floor((slice * n) / P))
          .filter((j) => j < Math.floor(((slice + 1) * n) / P));
        const name = { seed: 1, rank, iteration, purpose: 0x626c6f63 };
        for (const place of sampled(own.length, Math.min(k, own.length), name)) {
          united[own[place]!] = gradient[own[place]!]!;
        }
      });
      iteration++;
      return everyRank(P, united);
    };
  };
}

/** k of n, from the random numbers that all ranks share. */
const drawn = (n: number, k: number, iteration: number): ReadonlySet<number> =>
  sampled(n, k, { seed: 1, iteration, purpose: 0x72616e64 });

/** Floyd's sample of k of n. */
function sampled(n: number, k: number, name: StreamName): ReadonlySet<number> {
  const random = new CounterRandom(name);
  const chosen = new Set<number>();
  for (let j = n - k, word = 0; j < n; j++, word += 2) {
    const bits =
      BigInt(random.bits(word)) * 2n ** 21n + BigInt(random.bits(word + 1) >>> 11);
    const index = Number((bits * BigInt(j + 1)) / 2n ** 53n);
    chosen.add(chosen.has(index) ? j : index);
  }
  return chosen;
}

/** Indices of the entries with |p| ≥ τ. */
function reaching(p: readonly number[], τ: number): ReadonlySet<number> {
  return new Set([...p.keys()].filter((i) => Math.abs(p[i]!) >= τ));
}

/**
 * τ from mean, deviation and normal quantile, to 12 bits; lowered until 3k/4 entries
 * reach it, then doubled and bisected until no more than 5k/4 do; else exactly k.
 */
function gaussianChoice(p: readonly number[], ratio: number): ReadonlySet<number> {
  const k = Math.max(1, Math.round(ratio * p.length));
  const μ = mean(p);
  const σ = Math.sqrt(mean(p.map((value) => (value - μ) ** 2)));
  // The normal quantile of 0.875.
  const estimate = Math.abs(μ) + (ratio === 0.25 ? 1.1503 : NaN) * σ;
  const unit = 2 ** (Math.floor(Math.log2(estimate)) - 11);
  let τ = Math.round(estimate / unit) * unit;
  for (let step = 2; reaching(p, τ).size < (3 * k) / 4; step *= step) τ /= step;
  let high = Infinity;
  let low = τ;
  for (let i = 0; i < 40; i++) {
    const { size } = reaching(p, τ);
    if (size >= (3 * k) / 4 && size <= (5 * k) / 4) return reaching(p, τ);
    if (size > (5 * k) / 4) low = τ;
    else high = τ;
    τ = high === Infinity ? 2 * low : (low + high) / 2;
  }
  return largest(p, k);
}

/** τ of each half: its k-th magnitude, every L iterations or when the band is left. */
function livingThresholds(
  ratio: number,
  L: number,
  band: number,
): (p: readonly number[], iteration: number) => ReadonlySet<number> {
  const thresholds: number[] = [];
  return (p, iteration) => {
    const chosen: number[] = [];
    const size = p.length === 1 ? 1 : p.length / 2;
    for (let start = 0; start < p.length; start += size) {
      const layer = p.slice(start, start + size);
      const k = Math.max(1, Math.round(ratio * size));
      const { size: sent } = reaching(layer, thresholds[start] ?? 0);
      if (iteration % L === 0 || sent > k * band || sent < k / band) {
        const magnitudes = layer.map(Math.abs).sort((a, b) => b - a);
        thresholds[start] = Math.max(magnitudes[k - 1]!, 2 ** -149);
      }
      const most = Math.floor(k * band);
      const indices = [...reaching(layer, thresholds[start]!)].slice(0, most);
      chosen.push(...indices.map((i) => start + i));
    }
    return new Set(chosen);
  };
}

/** u ← μ·u + ∇; v ← v + u; the largest of v are sent and cleared from both. */
function momentumCorrection(ratio: number, momentum: number): Golden['oracle'] {
  return (P, n) => {
    const zeros = (): number[][] =>
      Array.from({ length: P }, () => Array<number>(n).fill(0));
    const us = zeros();
    const vs = zeros();
    return (gradients) => {
      const sent = gradients.map((gradient, rank) => {
        const u = us[rank]!.map((value, i) => momentum * value + gradient[i]!);
        const v = vs[rank]!.map((value, i) => value + u[i]!);
        const chosen = largest(v, Math.max(1, Math.round(ratio * n)));
        us[rank] = u.map((value, i) => (chosen.has(i) ? 0 : value));
        vs[rank] = v.map((value, i) => (chosen.has(i) ? 0 : value));
        return v.map((value, i) => (chosen.has(i) ? value : 0));
      });
      return everyRank(P, average(sent));
    };
  };
}

/** The paper's m: p = m + ∇; the leader chooses; m ← (1−β)·m + β·(p − g). */
function leaderSelects(
  β: number,
  choose: (p: readonly number[]) => ReadonlySet<number>,
): Golden['oracle'] {
  return (P, n) => {
    const residuals = Array.from({ length: P }, () => Array<number>(n).fill(0));
    let iteration = 0;
    return (gradients) => {
      const ps = gradients.map((gradient, rank) =>
        gradient.map((value, i) => value + residuals[rank]![i]!),
      );
      const chosen = n === 1 ? new Set([0]) : choose(ps[iteration++ % P]!);
      const sent = ps.map((p) => p.map((value, i) => (chosen.has(i) ? value : 0)));
      ps.forEach((p, rank) => {
        residuals[rank] = residuals[rank]!.map(
          (m, i) => (1 - β) * m + β * (p[i]! - sent[rank]![i]!),
        );
      });
      return everyRank(P, average(sent));
    };
  };
}

/** PowerSGD on the second half, a matrix of 8 rows; the first half travels whole. */
function subspaceIteration(r: number): Golden['oracle'] {
  return (P, n) => {
    const rows = 8;
    const columns = n / 2 / rows;
    const random = new CounterRandom({ seed: 1, purpose: 0x706f7772 });
    let q = grid(r, columns, (c, j) => 2 * random.uniform(c * columns + j) - 1);
    const residuals = Array.from({ length: P }, () => grid(rows, columns, () => 0));
    return (gradients) => {
      const matrices = gradients.map((gradient, rank) =>
        grid(
          rows,
          columns,
          (i, j) => gradient[n / 2 + i * columns + j]! + residuals[rank]![i]![j]!,
        ),
      );
      const start = q.map((column) =>
        column.map((value) => value / Math.hypot(...column)),
      );
      const lefts: number[][] = [];
      for (const column of start) {
        const left = Array.from({ length: rows }, (_, i) =>
          mean(matrices.map((m) => dot(m[i]!, column))),
        );
        for (const other of lefts) {
          const along = dot(left, other);
          other.forEach((value, i) => {
            left[i]! -= along * value;
          });
        }
        lefts.push(left.map((value) => value / Math.hypot(...left)));
      }
      const rights = matrices.map((m) =>
        grid(r, columns, (c, j) =>
          dot(
            lefts[c]!,
            m.map((row) => row[j]!),
          ),
        ),
      );
      const product = (right: number[][]): number[][] =>
        grid(rows, columns, (i, j) =>
          dot(
            lefts.map((l) => l[i]!),
            right.map((f) => f[j]!),
          ),
        );
      rights.forEach((right, rank) => {
        const sent = product(right);
        residuals[rank] = grid(
          rows,
          columns,
          (i, j) => matrices[rank]![i]![j]! - sent[i]![j]!,
        );
      });
      q = grid(r, columns, (c, j) => mean(rights.map((right) => right[c]![j]!)));
      const whole = average(gradients).slice(0, n / 2);
      return everyRank(P, [...whole, ...product(q).flat()]);
    };
  };
}

function grid(
  rows: number,
  columns: number,
  value: (i: number, j: number) => number,
): number[][] {
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => value(i, j)),
  );
}

function dot(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, value, i) => sum + value * y[i]!, 0);
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

/** Every number ===, so that −0 is 0, or within the tolerance. */
function expectEqual(
  actual: readonly Float32Array[],
  expected: number[][],
  tolerance: number,
): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((result, rank) => {
    expect(result.length).toBe(expected[rank]!.length);
    const bound = tolerance * Math.max(...expected[rank]!.map(Math.abs));
    const at = result.findIndex(
      (v, i) => !(Math.abs(v - expected[rank]![i]!) <= bound),
    );
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
            expectEqual(actual, expected, golden.tolerance ?? 0);
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
      const { ofThreeAndFive: expected = 4 } = golden;
      expect([...a!, ...b!]).toEqual([expected, expected]);
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
