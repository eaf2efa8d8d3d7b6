/**
 * SVRG, and QSVRG where its gradients are rounded: on a strongly convex problem it goes on to the
 * minimum where SGD at the same rate stays as far from it as its noise takes it.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ofType } from '../../harness/records.ts';
import { SupervisorNode } from './supervisor-node.ts';

const FEATURES = 10;
/** Shards of 45, of which batches of 7 leave 3 over. */
const SAMPLES = 90;
const BATCH = 7;

interface Sample {
  readonly label: 1 | -1;
  readonly features: readonly number[];
}

/** 32 bits of a hash, so that neighbours have nothing in common. */
function mixed(number: number): number {
  let word = Math.imul(number + 1, 0x9e37_79b1);
  word = Math.imul(word ^ (word >>> 15), 0x85eb_ca6b);
  return (word ^ (word >>> 13)) >>> 0;
}

/** Labels follow the first features, but for a third: so the minimum is finite. */
const samples: readonly Sample[] = Array.from({ length: SAMPLES }, (_, i) => {
  const features = Array.from({ length: FEATURES }, (_, j) => j).filter(
    (j) => mixed(101 * i + j) % 3 === 0,
  );
  const side = features.filter((j) => j < 5).length >= 2 ? 1 : -1;
  return { label: mixed(7 * i) % 3 === 0 ? (-side as 1 | -1) : side, features };
});

/** Mean logistic loss at the minimum: by Newton's method, in numbers of 64 bits. */
function smallestLoss(): number {
  const size = FEATURES + 1;
  const weights = new Float64Array(size);
  const margin = ({ features, label }: Sample): number =>
    label * features.reduce((sum, j) => sum + weights[j]!, weights[FEATURES]!);
  for (let round = 0; round < 30; round++) {
    const matrix = Array.from({ length: size }, () => new Float64Array(size + 1));
    for (const sample of samples) {
      const risk = 1 / (1 + Math.exp(margin(sample)));
      const used = [...sample.features, FEATURES];
      for (const j of used) {
        matrix[j]![size]! -= sample.label * risk;
        for (const k of used) matrix[j]![k]! += risk * (1 - risk);
      }
    }
    solve(matrix).forEach((value, j) => {
      weights[j]! -= value;
    });
  }
  const losses = samples.map((sample) => Math.log1p(Math.exp(-margin(sample))));
  return losses.reduce((sum, loss) => sum + loss, 0) / SAMPLES;
}

/** By elimination, largest pivot first; the right side is the last column. */
function solve(rows: Float64Array[]): Float64Array {
  const size = rows.length;
  for (let k = 0; k < size; k++) {
    const from = rows.slice(k);
    const best = k + from.findIndex((row) => row === largest(from, k));
    [rows[k], rows[best]] = [rows[best]!, rows[k]!];
    for (const row of rows) {
      if (row === rows[k]) continue;
      const factor = row[k]! / rows[k]![k]!;
      for (let j = k; j <= size; j++) row[j]! -= factor * rows[k]![j]!;
    }
  }
  return Float64Array.from(rows, (row, k) => row[size]! / row[k]!);
}

const largest = (rows: readonly Float64Array[], column: number): Float64Array =>
  rows.reduce((best, row) =>
    Math.abs(row[column]!) > Math.abs(best[column]!) ? row : best,
  );

let node: SupervisorNode;
let file: string;
beforeAll(async () => {
  node = await SupervisorNode.start();
  file = path.join(node.home.directory, 'train');
  const lines = samples.map(
    ({ features, label }) =>
      `${label === 1 ? '+1' : '-1'} ${features.map((j) => `${j}:1`).join(' ')}\n`,
  );
  // Evaluated on what it is trained on.
  for (const name of [file, `${file}.t`]) writeFileSync(name, lines.join(''));
});
afterAll(() => node[Symbol.asyncDispose]());

const ITERATIONS = 600;

/** Loss over all samples less the smallest, after every hundredth iteration. */
async function gaps(
  optimizer: Readonly<Record<string, unknown>>,
  exchange: Readonly<Record<string, unknown>>,
  { ranks = 2, batchPerRank = BATCH } = {},
): Promise<readonly number[]> {
  const records = await node.train({
    workload: {
      ...{ model: 'logistic-regression', dataset: 'svmlight', data: file },
      ...{ features: FEATURES, batchPerRank },
    },
    optimizer: { lr: 0.5, momentum: 0, ...optimizer },
    ...{ iterations: ITERATIONS, world: { ranks }, exchange, evaluateEvery: 100 },
  });
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  const smallest = smallestLoss();
  return ofType(records, 'evaluation').map(({ loss }) => loss! - smallest);
}

const TWO_BITS = { method: 'qsgd', bits: 2, bucket: 16, minElements: 0 };

describe('what does not go together', () => {
  it.each([
    [{ overlap: true }, 'overlap'],
    [{ doubleBuffer: true }, 'doubleBuffer'],
    [{ parallelism: { kind: 'local-steps' } }, 'optimizer.fullGradientEvery'],
    [
      { workload: { model: 'synthetic-gradient', dataset: 'none' } },
      'optimizer.fullGradientEvery',
    ],
  ])('%j', async (settings, place) => {
    const asked = node.train({ optimizer: { fullGradientEvery: 5 }, ...settings });
    await expect(asked).rejects.toMatchObject({ code: 'PARALLELISM_MISFIT', place });
  });
});

describe('a strongly convex problem', () => {
  it('is solved by SVRG to the precision of its numbers, linearly', async () => {
    const [first, second, third, ...rest] = await gaps(
      { fullGradientEvery: 20 },
      { method: 'none' },
    );
    expect(second).toBeLessThan(first! / 3);
    expect(third).toBeLessThan(second! / 3 + 1e-6);
    for (const gap of rest) expect(Math.abs(gap)).toBeLessThan(1e-5);
  });

  it('is solved where gradients are rounded to two bits, and not without full ones', async () => {
    const reduced = await gaps({ fullGradientEvery: 20 }, TWO_BITS);
    expect(Math.abs(reduced.at(-1)!)).toBeLessThan(1e-5);
    expect(reduced[1]).toBeLessThan(reduced[0]! / 2);
    const plain = await gaps({}, TWO_BITS);
    // It stays where its noise takes it, early and late.
    for (const gap of plain.slice(2)) expect(gap).toBeGreaterThan(1e-3);
  });

  it('is solved by gradient descent in signs of the gradient’s norm', async () => {
    const [first, second, third, ...rest] = await gaps(
      { lr: 0.2 },
      { method: 'qgd', minElements: 0 },
      { ranks: 1, batchPerRank: SAMPLES },
    );
    expect(second).toBeLessThan(first! / 2);
    expect(third).toBeLessThan(second! / 2 + 1e-6);
    expect(Math.abs(rest.at(-1)!)).toBeLessThan(1e-5);
  });
});
