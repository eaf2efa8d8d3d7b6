/**
 * Data parallelism is a way to compute, and no other training: where every batch is all of the
 * data, P ranks without compression take the steps that one rank takes alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { idxBytes } from '../../unit/training/idx-fixtures.ts';
import { SupervisorNode } from './supervisor-node.ts';

const SAMPLES = 48;
const ITERATIONS = 50;

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

function folder(
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const directory = path.join(node.home.directory, name);
  mkdirSync(directory);
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(path.join(directory, file), content);
  }
  return directory;
}

/** 32 bits of a hash, so that neighbours have nothing in common. */
function mixed(number: number): number {
  let word = Math.imul(number + 1, 0x9e37_79b1);
  word = Math.imul(word ^ (word >>> 15), 0x85eb_ca6b);
  return (word ^ (word >>> 13)) >>> 0;
}

const line = (i: number): string => {
  const label = mixed(i) % 2 === 0 ? '+1' : '-1';
  const features = [0, 1, 2, 3].map((j) => 1 + 25 * j + (mixed(31 * i + j) % 25));
  return `${label} ${features.map((feature) => `${feature}:1`).join(' ')}\n`;
};
const row = (i: number): string => {
  const group = mixed(11 * i) % 9;
  const label = group > 4 ? 1 : 0;
  return [label, mixed(7 * i) % 100, `c${group}`, `d${mixed(13 * i) % 5}`].join(',');
};
const letters = (length: number): string =>
  Array.from({ length }, (_, i) => 'abcdefg '[mixed(i) % 8]).join('');

const workloads: Readonly<Record<string, () => Record<string, unknown>>> = {
  fnn3: () => ({
    dataset: 'mnist',
    data: folder('idx', {
      'train-images-idx3-ubyte': idxBytes([SAMPLES, 28, 28]),
      'train-labels-idx1-ubyte': idxBytes([SAMPLES], 10),
      't10k-images-idx3-ubyte': idxBytes([12, 28, 28]),
      't10k-labels-idx1-ubyte': idxBytes([12], 10),
    }),
  }),
  'logistic-regression': () => {
    const lines = Array.from({ length: SAMPLES }, (_, i) => line(i));
    const files = { train: lines.join(''), 'train.t': lines.slice(0, 12).join('') };
    return { dataset: 'svmlight', data: path.join(folder('svm', files), 'train') };
  },
  'lstm-small': () => ({
    dataset: 'text',
    data: folder('text', {
      'a.train.txt': letters(16 * SAMPLES + 1),
      'a.test.txt': letters(16 * 12 + 1),
    }),
  }),
  'dlrm-small': () => {
    // A tenth of them is kept to test.
    const rows = Array.from({ length: (SAMPLES / 9) * 10 }, (_, i) => row(i));
    const table = ['label,number,one,other', ...rows].join('\n');
    return {
      dataset: 'csv',
      data: path.join(folder('csv', { 'a.csv': table }), 'a.csv'),
    };
  },
};

/** The loss of each iteration: the mean over ranks. */
async function losses(
  workload: Readonly<Record<string, unknown>>,
  ranks: number,
): Promise<readonly number[]> {
  const records = await node.train({
    workload: { ...workload, batchPerRank: SAMPLES / ranks },
    optimizer: { lr: 0.05, momentum: 0.9 },
    ...{ iterations: ITERATIONS, world: { ranks }, exchange: { method: 'none' } },
  });
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  const sums = Array.from({ length: ITERATIONS }, () => 0);
  for (const record of records) {
    if (record.type === 'iteration') sums[record.iteration]! += record.loss! / ranks;
  }
  return sums;
}

/** With one rank and several. `npm test` takes one whose mean is over tokens, and one over samples. */
const tried = effort({ quick: ['fnn3'], soak: Object.keys(workloads) });
describe.each(tried.map((model) => [model, workloads[model]!] as const))(
  '%s',
  (model, make) => {
    let workload: Record<string, unknown>;
    let alone: readonly number[];
    beforeAll(async () => {
      workload = { model, ...make() };
      alone = await losses(workload, 1);
    });

    it('learns', () => {
      expect(alone.at(-1)).toBeLessThan(0.9 * alone[0]!);
    });

    const quick = model === 'fnn3' ? [3] : [2];
    it.each(effort({ quick, soak: [2, 3, 4] }))(
      'takes the same steps with %i ranks',
      async (ranks) => {
        const together = await losses(workload, ranks);
        together.forEach((loss, iteration) => {
          expect(
            Math.abs(loss - alone[iteration]!),
            `iteration ${iteration}`,
          ).toBeLessThan(1e-4);
        });
      },
    );
  },
);
