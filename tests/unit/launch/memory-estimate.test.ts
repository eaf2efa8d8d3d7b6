/** What is said about a run's memory before it starts, by hand and against real arenas. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import {
  bytesIn,
  memoryParts,
  memoryWarning,
  requireArena,
} from '../../../src/agent/launch/memory-estimate.ts';
import type { MemoryFacts } from '../../../src/agent/training/memory-facts.ts';
import { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { temporaryDirectory } from '../training/idx-fixtures.ts';
import { trainerOptions } from '../training/train-together.ts';

const small: MemoryFacts = {
  ...{ parameters: 100, inTables: 0, stateVectors: 0, stepsInArena: true },
};
const none = [{ method: 'none' }];

describe('parts of a rank’s memory', () => {
  it.each([
    [small, none, { gradient: 400, weights: 400 }],
    [
      { ...small, stateVectors: 2 },
      none,
      { gradient: 400, weights: 400, optimiser: 800 },
    ],
    [small, [{ method: 'topk' }], { gradient: 400, residual: 400, weights: 400 }],
    [
      small,
      [...none, { method: 'topk' }],
      { gradient: 400, residual: 400, weights: 400 },
    ],
    [
      { ...small, inTables: 90, stateVectors: 1 },
      none,
      { gradient: 400, weights: 40, optimiser: 40, tables: 720 },
    ],
    [{ ...small, samples: 7 }, none, { gradient: 400, weights: 400, samples: 7 }],
  ])('of %j under %j', (facts, plans, expected) => {
    const parts = memoryParts(facts, plans);
    const found = Object.fromEntries(parts.map(({ bytes, name }) => [name, bytes]));
    expect(found).toEqual(expected);
  });

  it.each([
    // 4 GiB less the page of the kernels' own data.
    [2 ** 30 - 2 ** 14, true],
    [2 ** 30 - 2 ** 14 + 1, false],
  ])('%d parameters in tables fit the arena: %s', (parameters, fits) => {
    const parts = memoryParts({ ...small, parameters, inTables: parameters }, none);
    const check = () => {
      requireArena(parts);
    };
    if (fits) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }));
  });

  it('are said to be more than a machine has, with the number of its ranks', () => {
    const parts = memoryParts({ ...small, parameters: 250e6 }, none);
    expect(memoryWarning(parts, { available: 8e9, ranks: 4 })).toBeUndefined();
    expect(memoryWarning(parts, { available: 7e9, ranks: 4 })).toBe(
      'this machine has 7.00 GB of memory left, but its ranks need at least 8.00 GB: ' +
        'gradient 1.00 GB, weights 1.00 GB, 4 times',
    );
  });
});

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

type Case = readonly [model: string, dataset: string, kind: string, momentum: number];

async function compare([model, dataset, kind, momentum]: Case): Promise<void> {
  const { memory } = validateLaunch({
    workload: { model, dataset, batchPerRank: 4 },
    ...{ iterations: 1, backend: 'wasm', world: { ranks: 1 } },
    optimizer: {
      kind,
      lr: 0.1,
      ...(['sgd', 'lars'].includes(kind) ? { momentum } : {}),
    },
  });
  const run = { dataset, world: 1, batchPerRank: 4, lr: 0.1, iterations: 1 };
  const options = trainerOptions(run, 0);
  const trainer = await createTrainer({
    ...{ ...options, model },
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
    ...{ arena, gradient, kernels: loadWasmKernels(arena) },
    allocate: (length) => Promise.resolve(allocate(length)),
  });
  expect(bytesIn(memory.filter(({ isInArena }) => isInArena))).toBe(allocated);
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
];

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
    ...{ iterations: 1, backend: 'wasm', world: { ranks: 1 } },
  };
  expect(() => validateLaunch(spec)).toThrow(
    expect.objectContaining({
      ...{ code: 'MEMORY_TOO_SMALL', kind: 'input', place: `${file}:31` },
      message:
        'a rank needs at least 4,294,967,308 bytes in its arena, which has 4,294,901,760: ' +
        'gradient 4.29 GB, weights 4.00 B, optimiser 4.00 B; the size comes from ' +
        `feature 1073741823 in ${file}, line 31`,
    }),
  );
});
