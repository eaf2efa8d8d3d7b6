/** DLRM, trained by the trainer, against plain TypeScript. */
import { afterEach, expect, test } from 'vitest';
import {
  allocateBatch,
  settledFields,
} from '../../../src/agent/training/batches/batch.ts';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { clicks } from '../../../src/agent/training/datasets/clicks.ts';
import type { RankShard } from '../../../src/agent/training/datasets/dataset.ts';
import { dlrm, dlrmSmall } from '../../../src/agent/training/models/dlrm.ts';
import { parameterCount } from '../../../src/agent/training/models/model.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { effort } from '../../harness/effort.ts';
import { dlrmSample, type ClickRow, type DlrmSizes } from './dlrm-reference.ts';
import { trainerOptions } from './train-together.ts';

/** So few that columns share rows, and a batch leaves some unused. */
const ROWS = 250;
const SIZES: DlrmSizes = {
  rows: ROWS,
  width: 16,
  below: [13, 64, 16],
  above: [16 + 351, 64, 1],
};
const BATCH = 5;
const run = {
  dataset: 'clicks',
  world: 20,
  batchPerRank: BATCH,
  lr: 0.1,
  iterations: 9,
};

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

async function trainer(): Promise<Trainer> {
  const created = await createTrainer({
    ...trainerOptions(run, 0),
    model: 'dlrm-small',
    features: ROWS,
    optimizer: { kind: 'adagrad', lr: run.lr, momentum: 0, schedule: 'constant' },
  });
  open.push(created);
  return created;
}

function rowsOf(part: RankShard['train'], rows: Uint32Array): ClickRow[] {
  const fields = settledFields(dlrmSmall.ofFeatures(ROWS).inputs);
  const batch = allocateBatch(fields, rows.length);
  part.read(rows, batch);
  return Array.from(rows, (_, row) => ({
    dense: batch['dense']!.slice(row * 13, (row + 1) * 13),
    categories: batch['categories']!.slice(row * 26, (row + 1) * 26),
    label: batch['labels']![row]!,
  }));
}

const shardOf = (): Promise<RankShard> =>
  clicks.open({ inputs: {}, features: ROWS, rank: 0, world: run.world });

async function batchAt(iteration: number): Promise<ClickRow[]> {
  const { train } = await shardOf();
  const sampler = new BatchSampler({
    count: train.count,
    batch: BATCH,
    seed: 1,
    rank: 0,
  });
  const rows = new Uint32Array(BATCH);
  sampler.fill(iteration, rows);
  return rowsOf(train, rows);
}

const weightsOf = async (from: Trainer): Promise<Float32Array> => {
  const weights = new Float32Array(from.length);
  await from.readWeights(weights);
  return weights;
};

test('has 508,753 parameters, the small one 25,553, and the table', () => {
  // 13·512+512 + 512·256+256 + 256·64+64 + 64·16+16 = 155,984 below,
  // 367·512+512 + 512·256+256 + 256·128+128 + 128+1 = 352,769 on top.
  expect(parameterCount(dlrm.ofFeatures(1000))).toBe(155_984 + 352_769 + 16 * 1000);
  expect(parameterCount(dlrm.ofFeatures(1000)) - 16 * 1000).toBe(508_753);
  expect(parameterCount(dlrmSmall.ofFeatures(ROWS))).toBe(25_553 + 16 * ROWS);
});

/** Gradients of a tensor that are compared. */
const SLOPES = effort({ quick: 20, soak: 40 });

test('loss and gradient are those of plain TypeScript, table included', async () => {
  const trained = await trainer();
  const batch = await batchAt(0);
  // Larger than a run begins with, so that products of embeddings count.
  const weights = (await weightsOf(trained)).map((value, i) =>
    i < ROWS * 16 ? 8 * value : value,
  );
  await trained.writeWeights(weights);
  trained.loadBatch(0);
  const gradient = new Float32Array(trained.length).fill(7);
  const { loss } = await trained.computeGradient(gradient);
  const lossAt = (at: ArrayLike<number>): number =>
    batch.reduce((sum, row) => sum + dlrmSample(at, row, SIZES).loss / BATCH, 0);
  expect(loss).toBeCloseTo(lossAt(weights), 5);

  const used = new Set(batch.flatMap(({ categories }) => Array.from(categories)));
  expect(used.size).toBeLessThan(BATCH * 26);
  for (let row = 0; row < ROWS; row++) {
    const ofRow = gradient.subarray(row * 16, (row + 1) * 16);
    expect(ofRow.some((value) => value !== 0)).toBe(used.has(row));
  }
  const at = Float64Array.from(weights);
  const slope = (i: number): number => {
    const [before, step] = [at[i]!, 1e-6];
    at[i] = before + step;
    const up = lossAt(at);
    at[i] = before - step;
    const down = lossAt(at);
    at[i] = before;
    return (up - down) / (2 * step);
  };
  let moved = 0;
  for (const { start, length } of trained.tensors) {
    for (let i = 0; i < length; i += Math.max(1, Math.floor(length / SLOPES))) {
      const expected = slope(start + i);
      moved += expected === 0 ? 0 : 1;
      expect(Math.abs(gradient[start + i]! - expected)).toBeLessThan(2e-5);
    }
  }
  for (const row of [...used].slice(0, 10)) {
    expect(Math.abs(gradient[row * 16 + 3]! - slope(row * 16 + 3))).toBeLessThan(2e-5);
  }
  expect(moved).toBeGreaterThan(100);
});

test('Adagrad moves the rows in use alone, and its state goes on', async () => {
  const [straight, stopped, resumed] = [
    await trainer(),
    await trainer(),
    await trainer(),
  ];
  const gradient = new Float32Array(straight.length);
  const step = async (of: Trainer, iteration: number): Promise<void> => {
    of.loadBatch(iteration);
    await of.computeGradient(gradient);
    await of.applyGradient(gradient, iteration);
  };
  const before = await weightsOf(straight);
  await step(straight, 0);
  const after = await weightsOf(straight);
  for (let i = 0; i < ROWS * 16; i++) {
    expect(after[i] === before[i]).toBe(gradient[i] === 0);
    // The first step is the rate, whatever the gradient, unless that is about ε.
    const expected = (run.lr * gradient[i]!) / (Math.abs(gradient[i]!) + 1e-10);
    expect(before[i]! - after[i]!).toBeCloseTo(expected, 5);
  }
  for (let iteration = 1; iteration < 4; iteration++) await step(straight, iteration);
  for (let iteration = 0; iteration < 2; iteration++) await step(stopped, iteration);
  const state = new Float32Array(stopped.stateLength);
  await stopped.readState(state);
  await resumed.writeWeights(await weightsOf(stopped));
  await resumed.writeState(state);
  for (let iteration = 2; iteration < 4; iteration++) await step(resumed, iteration);
  expect(await weightsOf(resumed)).toEqual(await weightsOf(straight));
});

test('evaluation has the loss and the AUC of all test samples', async () => {
  const trained = await trainer();
  const { test: part } = await shardOf();
  const sums = await trained.evaluate();
  const { loss, metric } = trained.measuresOf(sums);
  const all = rowsOf(
    part,
    Uint32Array.from({ length: part.count }, (_, i) => i),
  );
  const weights = await weightsOf(trained);
  const scored = all.map((row) => ({ ...row, ...dlrmSample(weights, row, SIZES) }));
  expect(sums[0]).toBe(100);
  const mean = scored.reduce((sum, sample) => sum + sample.loss, 0) / scored.length;
  expect(loss).toBeCloseTo(mean, 5);
  const [yes, no] = [1, 0].map((label) => scored.filter((one) => one.label === label));
  let ordered = 0;
  for (const { score } of yes!) {
    ordered += no!.filter((one) => one.score < score).length / no!.length / yes!.length;
  }
  expect(metric!).toBeCloseTo(ordered, 3);
  // Padding of the last block counts nowhere.
  expect(sums[3]! + sums[4]!).toBe(100);
});
