/** What is said about a run's memory before it starts, by hand and against real arenas. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import {
  bytesIn,
  memoryParts,
  memoryWarning,
  requireArena,
  type MemoryPart,
  type MemorySetting,
} from '../../../src/agent/launch/memory-estimate.ts';
import { WeightShard } from '../../../src/agent/asynchronous/weight-shard.ts';
import type { MemoryFacts } from '../../../src/agent/training/memory-facts.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { models } from '../../../src/agent/training/models/registry.ts';
import type { ExchangePlan } from '../../../src/shared/plan/exchange-plan.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { temporaryDirectory } from '../training/idx-fixtures.ts';
import { trainerOptions } from '../training/train-together.ts';

const tensor = (name: string, start: number, length: number, isTable = false) => ({
  name,
  shape: [length],
  start,
  length,
  isTable,
});
const facts = (whole: number, changes: Partial<MemoryFacts> = {}): MemoryFacts => ({
  tensors: [tensor('w', 0, whole)],
  stateVectors: 0,
  stepsInArena: true,
  ...changes,
});
const small = facts(1000);
const plans = (...exchanges: readonly object[]): readonly ExchangePlan[] =>
  exchanges.map((exchange) => resolvePlan(exchange as { method: string }));
const none = plans({ method: 'none' });
const alone: MemorySetting = { ranks: 1, vectors: 0 };

/** Without what every process has. */
const partsOf = (...given: Parameters<typeof memoryParts>): Record<string, number> =>
  Object.fromEntries(
    memoryParts(...given)
      .filter(({ name }) => name !== 'process')
      .map(({ bytes, name }) => [name, bytes]),
  );

describe('parts of a rank’s memory', () => {
  const dense = { gradient: 4000, weights: 4000, copies: 4000 };
  const apart = { minElements: 0 };
  test.each<
    readonly [
      string,
      MemoryFacts,
      readonly ExchangePlan[],
      MemorySetting,
      Record<string, number>,
    ]
  >([
    ['plain', small, none, alone, dense],
    [
      'two state vectors',
      facts(1000, { stateVectors: 2 }),
      ...([none, alone, { ...dense, optimiser: 8000 }] as const),
    ],
    [
      'the larger of two plans',
      small,
      plans({ method: 'none' }, { method: 'topk', ratio: 0.01, ...apart }),
      // Ten indices and values of its own.
      ...([alone, { ...dense, residual: 4000, payloads: 80 }] as const),
    ],
    [
      'streams of four ranks',
      small,
      plans({ method: 'topk', ratio: 0.01, ...apart }),
      ...([
        { ...alone, ranks: 4 },
        { ...dense, residual: 4000, payloads: 320 },
      ] as const),
    ],
    [
      'streams that are longer together than the vector',
      small,
      plans({ method: 'topk', ratio: 0.4, ...apart }),
      ...([
        { ...alone, ranks: 9 },
        { ...dense, residual: 4000, payloads: 3200 + 4000 },
      ] as const),
    ],
    [
      'velocities of dgc',
      small,
      plans({ method: 'dgc', ratio: 0.01, ...apart }),
      ...([alone, { ...dense, residual: 4000, method: 4000, payloads: 80 }] as const),
    ],
    [
      'tables',
      {
        ...facts(0, { stateVectors: 1 }),
        tensors: [tensor('w', 0, 100), tensor('t', 100, 900, true)],
      },
      none,
      alone,
      {
        gradient: 4000,
        weights: 400,
        optimiser: 400,
        tables: 7200,
        copies: 4000,
      },
    ],
    [
      'no weights',
      facts(1000, { isWeightless: true }),
      none,
      alone,
      { gradient: 4000 },
    ],
    [
      'samples and scores of four ranks',
      facts(1000, { samples: { shared: 70, each: 5 }, scores: 9 }),
      none,
      { ranks: 4, vectors: 2 },
      { ...dense, steps: 8000, samples: 18 + 5, scores: 12 + 2 ** 19 },
    ],
    [
      'checkpoints, which copy all state',
      facts(1000, { stateVectors: 2 }),
      plans({ method: 'dgc', ratio: 0.01, ...apart }),
      { ...alone, keepsCheckpoints: true },
      {
        ...dense,
        optimiser: 8000,
        residual: 4000,
        method: 4000,
        payloads: 80,
        copies: 4000 + 8000 + 4000 + 4000,
      },
    ],
  ])('%s', (_, of, given, setting, expected) => {
    expect(partsOf(of, given, setting)).toEqual(expected);
  });

  it.each([
    // 4 GiB less the page of the kernels' own data.
    [2 ** 30 - 2 ** 14, true],
    [2 ** 30 - 2 ** 14 + 1, false],
  ])('%d parameters in tables fit the arena: %s', (parameters, fits) => {
    const tables = { ...small, tensors: [tensor('t', 0, parameters, true)] };
    const check = () => {
      requireArena(memoryParts(tables, none, alone));
    };
    if (fits) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }));
  });

  it('are said to be more than a machine has, with the number of its ranks', () => {
    const ofRank = memoryParts(facts(250e6), none, alone);
    const parts = ofRank.filter(({ isInArena }) => isInArena);
    const four = Array.from({ length: 4 }, () => parts);
    expect(memoryWarning(four, { available: 8e9 })).toBeUndefined();
    expect(memoryWarning(four, { available: 7e9 })).toBe(
      'this machine has 7.00 GB of memory left, but its 4 ranks need about 8.00 GB: ' +
        'gradient 4.00 GB, weights 4.00 GB',
    );
  });
});

describe('what a launch says', () => {
  const launch = (changes: object) =>
    checkedLaunch({
      workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
      iterations: 1,
      backend: 'wasm',
      world: { ranks: 4 },
      ...changes,
    }).memory;
  const named = (parts: readonly MemoryPart[], name: string): number =>
    parts.find((part) => part.name === name)?.bytes ?? 0;

  test('of a pipeline: each stage has its own tensors, and its pipeline’s samples', () => {
    const memory = launch({
      parallelism: { kind: 'synchronous', pipeline: { splitAfter: ['layer1'] } },
    });
    const [first, second] = [memory.ofRank(0), memory.ofRank(3)];
    expect(named(first, 'gradient') + named(second, 'gradient')).toBe(4 * 199_210);
    expect(named(first, 'gradient')).toBe(4 * (784 * 200 + 200));
    expect(named(first, 'samples')).toBe((10_000 * 785) / 2);
    expect(memory.ofRank(2)).toEqual(first);
  });

  test('of local steps and of full gradients: the vectors that they keep', () => {
    const local = launch({ parallelism: { kind: 'local-steps' } });
    expect(named(local.ofRank(0), 'steps')).toBe(2 * 4 * 199_210);
    const reduced = launch({
      optimizer: { kind: 'sgd', lr: 0.1, fullGradientEvery: 5 },
    });
    expect(named(reduced.ofRank(0), 'steps')).toBe(5 * 4 * 199_210);
  });

  test('of asynchronous training: what is pulled, and what servers have', () => {
    const n = 199_210;
    const momentum = { kind: 'sgd', lr: 0.1, momentum: 0.9, weightDecay: 1e-4 };
    const partsAt = (rank: number, changes: object = {}, rest: object = {}) => {
      const parallelism = { kind: 'asynchronous', ...changes };
      const parts = launch({ parallelism, ...rest }).ofRank(rank);
      return ['pulled', 'server', 'threads'].map((name) => named(parts, name));
    };
    const plain = { optimizer: { kind: 'sgd', lr: 0.1, momentum: 0 } };
    // f64 weights, and three copies on their way.
    expect(partsAt(0, {}, plain)).toEqual([4 * n, (8 + 3 * 4) * n, 0]);
    expect(partsAt(1, {}, plain)).toEqual([4 * n, 0, 0]);
    // Four velocities of ranks, and that of weight decay.
    const shard = new WeightShard(new Float32Array(n / 2), {
      workers: 4,
      momentum: 0.9,
      nesterov: false,
      weightDecay: 1e-4,
    });
    const held = [shard.weights, ...shard.velocities].reduce(
      (sum, { byteLength }) => sum + byteLength,
      0,
    );
    expect(held).toBe((8 + 5 * 4) * (n / 2));
    for (const rank of [0, 1]) {
      const [, server] = partsAt(rank, { servers: 2 }, { optimizer: momentum });
      expect(server).toBe(held + 3 * 4 * (n / 2));
    }
    expect(partsAt(2, { servers: 2 }, { optimizer: momentum })[1]).toBe(0);
    // Servers are spread over machines: ranks 0 and 2.
    const spread = { optimizer: momentum, world: { ranks: 4, nodes: ['a', 'b'] } };
    const servers = [0, 1, 2, 3].map(
      (rank) => partsAt(rank, { servers: 2 }, spread)[1],
    );
    expect(servers.map(Boolean)).toEqual([true, false, true, false]);
    // Weights and a gradient for each thread; weights, and state, of its trainer.
    const threads = partsAt(1, { trainerThreads: 3 }, { optimizer: momentum });
    expect(threads).toEqual([3 * 8 * n, 0, 3 * 8 * n]);
    const kept = launch({
      parallelism: { kind: 'asynchronous' },
      optimizer: momentum,
      checkpointEvery: 5,
    });
    const velocities = 5 * 4 * n;
    expect(named(kept.ofRank(0), 'copies')).toBe(2 * 4 * n + velocities);
    expect(named(kept.ofRank(1), 'copies')).toBe(2 * 4 * n);
  });

  test('of texts: all of it on every rank', () => {
    const file = path.join(temporaryDirectory(), 'text.txt');
    writeFileSync(file, 'one two three\n'.repeat(500));
    const ofText = (dataset: string, ranks: number): number =>
      named(
        launch({
          workload: { model: 'lstm-small', dataset, data: file, batchPerRank: 2 },
          world: { ranks },
        }).ofRank(0),
        'samples',
      );
    expect([ofText('text', 1), ofText('text', 4)]).toEqual([7000, 7000]);
    expect([ofText('text-characters', 1), ofText('text-characters', 4)]).toEqual([
      28_000, 28_000,
    ]);
  });

  test('of labelled texts: a pair for each trigram, and the scores that order them', () => {
    const file = path.join(temporaryDirectory(), 'texts.tsv');
    writeFileSync(file, 'a\tabcd\nb\tabcdefg\n'.repeat(50));
    const parts = launch({
      workload: {
        model: 'logistic-regression',
        dataset: 'trigrams',
        data: file,
        features: 1000,
        batchPerRank: 2,
      },
      world: { ranks: 2 },
    }).ofRank(1);
    // 2 and 5 trigrams.
    expect(named(parts, 'samples')).toBe((16 * 100 + 12 * 7 * 50) / 2);
    const clicks = launch({
      workload: { model: 'dlrm-small', dataset: 'clicks', batchPerRank: 2 },
      optimizer: { kind: 'adagrad', lr: 0.1 },
    });
    expect(named(clicks.ofRank(0), 'scores')).toBeGreaterThan(2 ** 19);
  });
});

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

type Case = readonly [model: string, dataset: string, kind: string, momentum: number];

async function compare([model, dataset, kind, momentum]: Case): Promise<void> {
  const { memory } = checkedLaunch({
    workload: { model, dataset, batchPerRank: 4 },
    iterations: 1,
    backend: 'wasm',
    world: { ranks: 1 },
    optimizer: {
      kind,
      lr: 0.1,
      ...(['sgd', 'lars'].includes(kind) ? { momentum } : {}),
    },
  });
  const run = { dataset, world: 1, batchPerRank: 4, lr: 0.1, iterations: 1 };
  const options = trainerOptions(run, 0);
  const trainer = await createTrainer({
    ...options,
    model,
    optimizer: { ...options.optimizer, kind, momentum },
  });
  open.push(trainer);
  const arena = new Arena();
  let allocated = 0;
  const allocate = (length: number) => {
    allocated += 4 * length;
    return arena.allocateVector(length);
  };
  const gradient = allocate(trainer.length);
  await trainer.joinArena?.({
    arena,
    gradient,
    kernels: loadWasmKernels(arena),
    allocate: (length) => Promise.resolve(allocate(length)),
  });
  const certain = memory.ofRank(0).filter(({ isInArena }) => isInArena);
  expect(bytesIn(certain)).toBe(allocated);
}

const QUICK: readonly Case[] = [
  ['fnn3', 'digits', 'sgd', 0.9],
  ['fnn3', 'digits', 'adam', 0],
  ['dlrm-small', 'clicks', 'sgd', 0],
  ['logistic-regression', 'sparse', 'adagrad', 0],
];
const SOAK: readonly Case[] = [
  ['linear-svm', 'sparse', 'sgd', 0.9],
  ['lstm-small', 'sentences', 'sgd', 0],
  ['transformer-small', 'sentences', 'adam', 0],
  ['transformer-seq2seq', 'reversal', 'adam', 0],
  ['dlrm', 'clicks', 'adagrad', 0],
  ['resnet-20', 'shapes', 'lars', 0.9],
  ['resnet-18', 'shapes', 'sgd', 0.9],
  ['resnet-110', 'shapes', 'sgd', 0.9],
  ['vgg-16', 'shapes', 'adamw', 0],
  ['lstm-ptb', 'sentences', 'sgd', 0],
  ['transformer-iwslt', 'reversal', 'adam', 0],
];

test('every model is among them', () => {
  const names = [...QUICK, ...SOAK].map(([model]) => model);
  expect(new Set(names)).toEqual(new Set(models.keys()));
});

describe('an arena gets as many bytes as were said', () => {
  test.each(QUICK)('%s with %s by %s, momentum %d', (...each) => compare(each));
  test.each(SOAK)('%s with %s by %s, momentum %d', { tags: 'soak' }, (...each) =>
    compare(each),
  );
});

it('a feature number that is far too high is refused with its line', () => {
  const file = path.join(temporaryDirectory(), 'huge.txt');
  const lines = Array.from({ length: 30 }, (_, i) => `${i % 2} ${i + 1}:1`);
  writeFileSync(file, [...lines, '1 1073741823:1', '0 5:1'].join('\n'));
  const spec = {
    workload: {
      model: 'logistic-regression',
      dataset: 'svmlight',
      data: file,
      batchPerRank: 2,
    },
    iterations: 1,
    backend: 'wasm',
    world: { ranks: 1 },
  };
  expect(() => checkedLaunch(spec)).toThrow(
    expect.objectContaining({
      code: 'MEMORY_TOO_SMALL',
      kind: 'input',
      place: `${file}:31`,
      message:
        'a rank needs at least 4,294,967,308 bytes in its arena, which has 4,294,901,760: ' +
        'gradient 4.29 GB, weights 4.00 B, optimiser 4.00 B; the size comes from ' +
        `feature 1073741823 in ${file}, line 31`,
    }),
  );
});
