/**
 * The quantities of two figures of each paper, from the same gradients by Gradwire's methods and by NumPy
 * alone (second_opinion.py): they must agree on the direction, and on values as far as no chance is involved.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { pytorch } from '../../harness/python.ts';
import { SimulatedWorld } from '../../unit/methods/simulated-world.ts';
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

function theirs(): Readonly<Record<string, readonly number[]>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-second-opinion-'));
  try {
    const file = path.join(folder, 'gradients');
    const all = gradients.flat().map(({ buffer }) => Buffer.from(buffer));
    writeFileSync(file, Buffer.concat(all));
    const script = path.join(import.meta.dirname, 'second_opinion.py');
    const sizes = [ITERATIONS, RANKS, N].map(String);
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

const norm = (x: Float32Array): number =>
  Math.sqrt(x.reduce((sum, v) => sum + v * v, 0));
const relative = (x: Float32Array, y: Float32Array): number =>
  norm(x.map((value, i) => value - y[i]!)) / norm(y);
const mean = gradients[0]![0]!.map(
  (_, i) => gradients[0]!.reduce((sum, own) => sum + own[i]!, 0) / RANKS,
);

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

/** The threshold of the last iteration, and the norm of what is left. */
const byThreshold = async (sparsity: number): Promise<readonly [number, number]> => {
  const { world } = await trained(
    'dct',
    { ratio: Number((1 - sparsity).toPrecision(6)), lifeSpan: 1 },
    { ranks: 1 },
  );
  return [world.statistics[0]!.thresholds!()[0]!.threshold, norm(world.residual(0))];
};
const SPARSITIES = [0.75, 0.95, 0.995];

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
    ours: () => {
      const k = Math.round(N * RATIO);
      return Promise.resolve(WORLDS.map((P) => N * (1 - (1 - k / N) ** P)));
    },
    direction: grows,
    within: 0.03,
  },
  {
    figure: 'qsgd-table-1',
    ours: async () =>
      await Promise.all(
        [
          { bits: 8, bucket: 512 },
          { bits: 4, bucket: 512 },
          { levels: 1, scale: 'l2', bucket: N },
        ].map(async (parameters) => {
          const { applied } = await once('qsgd', { ...parameters, minElements: 0 }, 1);
          return relative(applied[0]!, gradients[0]![0]!);
        }),
      ),
    direction: grows,
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
    ours: async () => {
      const qsgd = { levels: 4, scale: 'l2', bucket: N, minElements: 0 };
      const applied = [
        await once('a2sgd', {}),
        await once('qsgd', qsgd),
        await once('topk', { ratio: 0.001 }),
      ];
      return applied.map(({ applied: [own] }) => relative(own!, mean));
    },
    // In a single exchange: what replicas that drift lose comes on top.
    direction: ([a2sgd, ...others]) => others.every((other) => a2sgd! < other),
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
    direction: ([, share]) => share! > 0.5,
  },
  {
    figure: 'dct-figure-2',
    ours: async () => (await Promise.all(SPARSITIES.map(byThreshold))).map(([τ]) => τ),
    direction: grows,
  },
  {
    figure: 'dct-table-2',
    ours: async () =>
      (await Promise.all(SPARSITIES.map(byThreshold))).map(([, left]) => left),
    direction: grows,
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
