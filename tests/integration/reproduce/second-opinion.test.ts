/**
 * The quantities of two figures or more of each paper, by Gradwire's methods and by NumPy alone (second_opinion.py), from the
 * same gradients or, where losses are judged, from the same samples of a logistic regression that workers train
 * on: they must agree on the direction, and on values as far as no chance is involved.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { pytorch } from '../../harness/python.ts';
import {
  SimulatedWorld,
  type WorldOptions,
} from '../../unit/methods/simulated-world.ts';
import { normal } from '../../unit/reproduce/draws.ts';

const [ITERATIONS, RANKS, N] = [20, 8, 4096];
const WORLDS = [2, 4, 8];
const RATIO = 0.01;

/** A signal with a few large entries that all ranks share, and noise of each rank's own. */
const gradients = ((): readonly (readonly Float32Array[])[] => {
  const next = normal(23);
  const signal = Float32Array.from({ length: N }, () => next() ** 3);
  return Array.from({ length: ITERATIONS }, () =>
    Array.from({ length: RANKS }, () => signal.map((value) => value + 2 * next())),
  );
})();

/** Gradients without what they share: those of ranks are independent. */
const noise = gradients[0]!.map((first, r) =>
  gradients[1]![r]!.map((value, i) => value - first[i]!),
);

/** Samples of each rank and of the test, whose labels follow a direction that all share, with noise. */
const [SAMPLES, FEATURES, TESTS, STEPS, RATE] = [60, 100, 500, 120, 0.5];
const classes = (() => {
  const next = normal(29);
  const direction = Float64Array.from({ length: FEATURES }, () => next());
  const drawn = (count: number) => {
    const x = Float32Array.from({ length: count * FEATURES }, () => next());
    const y = Float32Array.from({ length: count }, (_, i) =>
      dot(x, i * FEATURES, direction) + 5 * next() > 0 ? 1 : 0,
    );
    return { x, y };
  };
  return {
    ranks: Array.from({ length: RANKS }, () => drawn(SAMPLES)),
    test: drawn(TESTS),
  };
})();

function dot(x: Float32Array, from: number, w: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < w.length; i++) sum += x[from + i]! * w[i]!;
  return sum;
}

/** The mean gradient of the logistic loss over a rank's samples. */
function logisticGradient(
  { x, y }: { readonly x: Float32Array; readonly y: Float32Array },
  w: Float64Array,
): Float64Array {
  const gradient = new Float64Array(w.length);
  for (const [i, label] of y.entries()) {
    const error = 1 / (1 + Math.exp(-dot(x, i * FEATURES, w))) - label;
    for (let f = 0; f < FEATURES; f++) {
      gradient[f]! += (error * x[i * FEATURES + f]!) / y.length;
    }
  }
  return gradient;
}

/** The test loss of workers that each train on their own samples, averaged over the workers. */
async function testLoss(method: string, parameters: JsonObject): Promise<number> {
  const form = method === 'qsgd' ? 'gathered' : 'dense';
  const makeKernels: WorldOptions['makeKernels'] = (arena) => loadWasmKernels(arena);
  using world = new SimulatedWorld({
    method,
    parameters,
    form,
    makeKernels,
    ranks: RANKS,
    length: FEATURES,
  });
  const weights = classes.ranks.map(() => new Float64Array(FEATURES));
  for (let t = 0; t < STEPS; t++) {
    const own = classes.ranks.map((rank, r) => logisticGradient(rank, weights[r]!));
    const applied = await world.exchange(t, own);
    for (const [r, w] of weights.entries()) {
      for (let f = 0; f < FEATURES; f++) w[f]! -= RATE * applied[r]![f]!;
    }
  }
  const { x, y } = classes.test;
  let sum = 0;
  for (const w of weights) {
    for (const [i, label] of y.entries()) {
      const score = dot(x, i * FEATURES, w);
      sum += Math.max(0, score) + Math.log1p(Math.exp(-Math.abs(score)));
      sum -= label * score;
    }
  }
  return sum / RANKS / TESTS;
}

const testLosses = async (
  ...methods: readonly (readonly [method: string, parameters: JsonObject])[]
): Promise<readonly number[]> => {
  const losses = [await testLoss('none', {})];
  for (const one of methods) losses.push(await testLoss(...one));
  return losses;
};

function theirs(): Readonly<Record<string, readonly number[]>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-second-opinion-'));
  try {
    const file = path.join(folder, 'gradients');
    const { ranks, test: held } = classes;
    const all = [
      ...gradients.flat(),
      ...[...ranks.map(({ x }) => x), ...ranks.map(({ y }) => y), held.x, held.y],
    ];
    writeFileSync(file, Buffer.concat(all.map(({ buffer }) => Buffer.from(buffer))));
    const script = path.join(import.meta.dirname, 'second_opinion.py');
    const sizes = [ITERATIONS, RANKS, N, SAMPLES, FEATURES, TESTS, STEPS].map(String);
    const printed = execFileSync(pytorch!, [script, file, ...sizes], {
      encoding: 'utf8',
    });
    return JSON.parse(printed) as Record<string, readonly number[]>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const worldOf = (
  method: string,
  parameters: JsonObject,
  ranks = RANKS,
): SimulatedWorld =>
  new SimulatedWorld({
    method,
    parameters,
    ranks,
    length: N,
    // The form in which what figures look at is known.
    form:
      method === 'qsgd'
        ? 'gathered'
        : 'diagnosticsEvery' in parameters || method !== 'topk'
          ? 'dense'
          : 'sparse',
    makeKernels: (arena) => loadWasmKernels(arena),
  });

/** A world after all iterations, and what they applied. */
async function trained(
  method: string,
  parameters: JsonObject,
  { ranks = RANKS, iterations = ITERATIONS } = {},
): Promise<{ world: SimulatedWorld; applied: readonly Float32Array[] }> {
  const world = worldOf(method, parameters, ranks);
  let applied: readonly Float32Array[] = [];
  for (let t = 0; t < iterations; t++) {
    applied = await world.exchange(t, gradients[t]!.slice(0, ranks));
  }
  return { world, applied };
}

const once = async (method: string, parameters: JsonObject, ranks = RANKS) =>
  await trained(method, parameters, { ranks, iterations: 1 });

/** The entries of the last sum, by the number of ranks. */
const filledIn = async (ratio: number): Promise<readonly number[]> =>
  await Promise.all(
    WORLDS.map(async (ranks) => {
      const { world } = await trained('topk', { ratio }, { ranks });
      return world.statistics[0]!.nnzReduced!;
    }),
  );

const similarity = async (method: string, parameters: JsonObject) => {
  const { world } = await trained(method, {
    ratio: RATIO,
    diagnosticsEvery: ITERATIONS,
    ...parameters,
  });
  return world.statistics[0]!.similarity!;
};

/** The share that is kept where another one is left out. */
const kept = (sparsity: number): number => Number((1 - sparsity).toPrecision(6));

/** The threshold of the last iteration. */
const byThreshold = async (sparsity: number): Promise<number> => {
  const { world } = await trained(
    'dct',
    { ratio: kept(sparsity), lifeSpan: 1 },
    { ranks: 1 },
  );
  return world.statistics[0]!.thresholds!()[0]!.threshold;
};
const SPARSITIES = [0.75, 0.95, 0.995];

/** Levels of the norm: one, some, and √n of them. */
const LEVELS = [1, 16, Math.sqrt(N)];

/** Squared error and non-zero elements of one rank's gradient in levels of its norm, means over the iterations. */
async function roundedTo(levels: number): Promise<{ error: number; entries: number }> {
  const world = worldOf('qsgd', { levels, scale: 'l2', bucket: N, minElements: 0 }, 1);
  let [error, entries] = [0, 0];
  for (let t = 0; t < ITERATIONS; t++) {
    const vector = gradients[t]![0]!;
    const [rounded] = await world.exchange(t, [vector]);
    let [squares, missed] = [0, 0];
    for (const [i, value] of vector.entries()) {
      squares += value * value;
      missed += (rounded![i]! - value) ** 2;
      if (rounded![i] !== 0) entries += 1 / ITERATIONS;
    }
    error += missed / squares / ITERATIONS;
  }
  return { error, entries };
}

interface Quantity {
  readonly figure: string;
  readonly ours: () => Promise<readonly number[]>;
  /** The direction that the claim has. */
  readonly direction: (values: readonly number[]) => boolean;
  /** The relative difference that chance, or the last bits, make; default: a thousandth. */
  readonly within?: number;
}

const grows = (values: readonly number[]): boolean =>
  values.every((value, i) => i === 0 || value > values[i - 1]!);

const QUANTITIES: readonly Quantity[] = [
  { figure: 'sparcml-figure-1', ours: () => filledIn(RATIO), direction: grows },
  {
    figure: 'sparcml-figure-7',
    ours: async () =>
      await Promise.all(
        WORLDS.map(async (ranks) => {
          const world = worldOf('topk', { ratio: RATIO }, ranks);
          await world.exchange(0, noise.slice(0, ranks));
          return world.statistics[0]!.nnzReduced!;
        }),
      ),
    // The paper's formula, for entries that are uniform and independent.
    direction: (counts) =>
      counts.every((count, i) => {
        const k = Math.round(N * RATIO);
        const expected = N * (1 - (1 - k / N) ** WORLDS[i]!);
        return Math.abs(count / expected - 1) < 0.05;
      }),
  },
  {
    figure: 'qsgd-table-1',
    ours: async () =>
      await testLosses(
        ['qsgd', { bits: 8, bucket: FEATURES, minElements: 0 }],
        ['qsgd', { bits: 4, bucket: FEATURES, minElements: 0 }],
        ['qsgd', { levels: 1, scale: 'l2', bucket: FEATURES, minElements: 0 }],
      ),
    // 4 and 8 bits lose nothing, and one level does.
    direction: ([dense, eight, four, one]) =>
      eight! < 1.01 * dense! && four! < 1.01 * dense! && one! > 1.01 * dense!,
    within: 0.1,
  },
  {
    figure: 'qsgd-section-3',
    ours: async () => {
      const rounded = await Promise.all(LEVELS.map(roundedTo));
      return [...rounded.map(({ error }) => error), rounded[0]!.entries];
    },
    // The bounds of Lemma 3.1: min(n/s², √n/s), and s(s + √n) elements.
    direction: ([one, some, many, entries]) =>
      [one!, some!, many!].every(
        (error, i) => error <= Math.min(N / LEVELS[i]! ** 2, Math.sqrt(N) / LEVELS[i]!),
      ) && entries! <= 1 + Math.sqrt(N),
    within: 0.1,
  },
  {
    figure: 'qsgd-figure-2',
    ours: async () => {
      const bytes = WORLDS.map(async (ranks) => {
        const parameters = { bits: 4, bucket: 512, minElements: 0 };
        const { world } = await once('qsgd', parameters, ranks);
        return (ranks - 1) * world.sent[0]!.length;
      });
      const ring = WORLDS.map((ranks) => 2 * ((ranks - 1) / ranks) * 4 * N);
      return [...(await Promise.all(bytes)), ...ring];
    },
    direction: ([a, b, c, ...ring]) => a! < ring[0]! && b! < ring[1]! && c! < ring[2]!,
    within: 0.02,
  },
  {
    figure: 'a2sgd-table-2',
    ours: async () => {
      const { world } = await once('a2sgd', {});
      return [8 * world.sent[0]!.length, 32 * N];
    },
    direction: grows,
  },
  {
    figure: 'a2sgd-figure-3',
    ours: async () =>
      await testLosses(
        ['a2sgd', {}],
        ['qsgd', { levels: 4, scale: 'l2', bucket: FEATURES, minElements: 0 }],
        ['topk', { ratio: 0.05, minElements: 0 }],
      ),
    // That of the figure, against the claim: workers that see their own samples alone lose most.
    direction: ([dense, a2sgd, ...others]) =>
      a2sgd! > 2 * dense! && others.every((other) => other < 1.05 * dense!),
    within: 0.1,
  },
  { figure: 'scalecom-figure-1', ours: () => filledIn(1 / 112), direction: grows },
  {
    figure: 'scalecom-figure-2',
    ours: async () => {
      const local = await similarity('topk', {});
      const filtered = await similarity('scalecom', { beta: 0.1 });
      const plain = await similarity('scalecom', { beta: 1 });
      return [
        local.residualDistance!,
        local.magnitudeShare!,
        filtered.residualDistance!,
        plain.residualDistance!,
      ];
    },
    // One rank's choice holds most of the largest, and the filter makes residuals more alike.
    direction: ([, share, filtered, plain]) => share! > 0.5 && filtered! < plain!,
  },
  {
    figure: 'dct-figure-2',
    ours: async () => await Promise.all(SPARSITIES.map(byThreshold)),
    direction: grows,
  },
  {
    figure: 'dct-table-2',
    ours: async () =>
      await testLosses(
        ...[0.75, 0.95, 0.99].map(
          (sparsity) =>
            ['dct', { ratio: kept(sparsity), lifeSpan: 1, minElements: 0 }] as const,
        ),
      ),
    // Up to 95 % little is lost, beyond that the loss rises.
    direction: ([dense, ...by]) => by[1]! < 1.03 * dense! && by[2]! > 1.1 * dense!,
  },
];

describe.skipIf(pytorch === undefined)('NumPy comes to the same', () => {
  const second = pytorch === undefined ? {} : theirs();

  test.each(QUANTITIES.map((quantity) => [quantity.figure, quantity] as const))(
    '%s',
    async (figure, { ours, direction, within = 1e-3 }) => {
      const [values, others] = [await ours(), second[figure]!];
      expect(others).toHaveLength(values.length);
      for (const [i, value] of values.entries()) {
        expect(Math.abs(value / others[i]! - 1)).toBeLessThan(within);
      }
      expect([direction(values), direction(others)]).toEqual([true, true]);
    },
  );
});
