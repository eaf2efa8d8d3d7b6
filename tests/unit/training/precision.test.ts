/** Losses, norms and normalisers where f32 loses them, against plain loops in f64. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import { sparse } from '../../../src/agent/training/datasets/sparse.ts';
import {
  BatchNorms,
  normStatistics,
} from '../../../src/agent/training/models/batch-norm.ts';
import { blockSum } from '../../../src/agent/training/runtime/block-sum.ts';
import {
  crossEntropy,
  logisticLoss,
} from '../../../src/agent/training/models/cross-entropy.ts';
import { TransformerPass } from '../../../src/agent/training/models/transformer.ts';
import { clipGradients } from '../../../src/agent/training/optimizers/clip-gradients.ts';
import { lars } from '../../../src/agent/training/optimizers/lars.ts';
import {
  openJaxRuntime,
  type JaxArray,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import { StatisticMeans } from '../../../src/agent/training/statistic-means.ts';
import { linearStep } from './linear-reference.ts';
import { samplesOf } from './sparse-rows.ts';
import { trainerOptions } from './train-together.ts';

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

const array = (values: Float32Array<ArrayBuffer>, shape = [values.length]): JaxArray =>
  runtime.jax.numpy.array(values, { shape });

const f32 = (length: number, of: (i: number) => number) =>
  Float32Array.from({ length }, (_, i) => of(i));

/** Losses and their derivatives, compiled as a step compiles them. */
async function differentiated(
  losses: (given: JaxArray) => JaxArray,
  given: JaxArray,
): Promise<{ values: ArrayLike<number>; slopes: ArrayLike<number> }> {
  const { jax } = runtime;
  const sum = (input: JaxArray): [JaxArray, JaxArray] => {
    const each = losses(input);
    return [each.ref.sum(), each];
  };
  type Step = (given: JaxArray) => [[JaxArray, JaxArray], JaxArray];
  const step = jax.jit(
    jax.valueAndGrad(sum as never, { hasAux: true }) as never,
  ) as unknown as Step;
  const [[total, each], slope] = step(given);
  total.dispose();
  return { values: await each.data(), slopes: await slope.data() };
}

/** Relative, for numbers of any size. */
const apart = (value: number, expected: number): number =>
  Math.abs(value - expected) / Math.abs(expected);

test('the logistic loss is precise where it is small, and so is its slope', async () => {
  const margins = f32(2001, (i) => (i - 1000) / 12);
  const { values, slopes } = await differentiated(
    (given) => logisticLoss(runtime.jax, given),
    array(margins),
  );
  for (const [i, m] of margins.entries()) {
    const loss = Math.max(0, -m) + Math.log1p(Math.exp(-Math.abs(m)));
    expect(apart(values[i]!, loss), `margin ${m}`).toBeLessThan(6e-6);
    const slope = -1 / (1 + Math.exp(m));
    expect(apart(slopes[i]!, slope), `margin ${m}`).toBeLessThan(6e-6);
  }
  expect(slopes[1000]).toBe(-0.5);
});

test.each([2, 10, 10_000])('cross-entropy of %d classes', async (classes) => {
  const rows = 40;
  const right = (row: number) => (row * 7) % classes;
  // The right one leads by −20 to 19.
  const scores = f32(rows * classes, (i) => {
    const [row, column] = [Math.floor(i / classes), i % classes];
    return Math.sin(1.7 * i) + (column === right(row) ? row - 20 : 0);
  });
  const labels = Int32Array.from({ length: rows }, (_, row) => right(row));
  const { values, slopes } = await differentiated(
    (given) => crossEntropy(runtime.jax, given, runtime.jax.numpy.array(labels)),
    array(scores, [rows, classes]),
  );
  for (let row = 0; row < rows; row++) {
    const own = scores.subarray(row * classes, (row + 1) * classes);
    const ahead = own[right(row)]!;
    let others = 0;
    for (const [column, score] of own.entries()) {
      if (column !== right(row)) others += Math.exp(score - ahead);
    }
    expect(apart(values[row]!, Math.log1p(others)), `row ${row}`).toBeLessThan(6e-6);
    const wrong = own.findIndex((score, column) => {
      const share = Math.exp(score - ahead) / (1 + others);
      const slope = share - (column === right(row) ? 1 : 0);
      const off = Math.abs(slopes[row * classes + column]! - slope);
      return !(off < Math.max(3e-7, 1e-5 * share));
    });
    expect(wrong, `row ${row}`).toBe(-1);
  }
});

test('scores that are −∞ belong to impossible classes', async () => {
  const scores = array(Float32Array.of(1, -Infinity, 2, 0, -Infinity, 0), [2, 3]);
  const labels = runtime.jax.numpy.array(Int32Array.of(0, 2));
  const losses = await crossEntropy(runtime.jax, scores, labels).data();
  expect(losses[0]).toBeCloseTo(Math.log(1 + Math.E), 6);
  expect(losses[1]).toBeCloseTo(Math.LN2, 6);
});

describe('sums of many', () => {
  const MANY = 2_400_000;
  const many = f32(MANY, (i) => 0.01 * Math.sin(0.7 * i));
  const norm = Math.sqrt(many.reduce((sum, value) => sum + value * value, 0));

  test.each([1, 512, 513, 1021, 262_144, 1_000_003])('%d elements', async (length) => {
    const values = f32(2 * length, (i) => (i % 7) / 3 + 0.1);
    const sums = await blockSum(runtime.jax, array(values, [2, length])).data();
    for (const [row, sum] of sums.entries()) {
      const own = values.subarray(row * length, (row + 1) * length);
      const expected = own.reduce((total, value) => total + value, 0);
      expect(apart(sum, expected)).toBeLessThan(3e-6);
    }
  });

  test('the norm that clips', async () => {
    const [clipped] = clipGradients(runtime.jax, [array(many)], norm / 2);
    const values = await clipped!.data();
    expect(apart(values[1]!, many[1]! / 2)).toBeLessThan(1e-6);
  });

  test('the norms of LARS', async () => {
    const shape = [MANY / 100, 100];
    const before = f32(MANY, () => 1);
    const { weight } = lars.update(
      runtime.jax,
      { momentum: 0, trust: 1 },
      {
        weight: array(before, shape),
        gradient: array(many, shape),
        state: [],
        learningRate: array(Float32Array.of(1, 0)).slice(0),
        factors: [],
        isVector: false,
      },
    );
    const moved = 1 - (await weight.data())[1]!;
    expect(apart(moved, (many[1]! * Math.sqrt(MANY)) / norm)).toBeLessThan(2e-6);
  });
});

test('the loss of a large batch is the mean of its samples’ losses', async () => {
  const run = { dataset: 'sparse', world: 1, batchPerRank: 4000, lr: 1, iterations: 1 };
  const features = 500;
  const trainer = await createTrainer({
    ...trainerOptions(run, 0),
    model: 'logistic-regression',
    features,
  });
  const weights = f32(trainer.length, (i) => 3 * Math.sin(i));
  await trainer.writeWeights(weights);
  trainer.loadBatch(0);
  const { loss } = await trainer.computeGradient(new Float32Array(trainer.length));
  trainer.close();
  const shard = await sparse.open({ inputs: {}, features, rank: 0, world: 1 });
  const { count } = shard.train;
  const sampler = new BatchSampler({ count, batch: 4000, seed: 1, rank: 0 });
  const rows = new Uint32Array(4000);
  sampler.fill(0, rows);
  const samples = samplesOf(shard, shard.train, rows);
  expect(apart(loss!, linearStep('logistic', weights, samples).loss)).toBeLessThan(
    2e-7,
  );
});

describe('norms around a mean far from 0', () => {
  /** (x − mean) ⁄ √(variance + ε) of f32 values. */
  function standardized(values: readonly number[]): readonly number[] {
    const mean = values.reduce((a, b) => a + b) / values.length;
    const variance =
      values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length;
    return values.map((x) => (x - mean) / Math.sqrt(variance + 1e-5));
  }

  test.each([0, 10, 100])('a layer norm at %d', async (mean) => {
    const width = 64;
    const values = f32(width, (i) => mean + Math.sin(3 * i));
    const pass = new TransformerPass({
      jax: runtime.jax,
      rows: 1,
      shape: { width, heads: 1, inner: 1, norm: 'before' },
      parameters: [array(f32(width, () => 1)), array(f32(width, () => 0))],
    });
    const normed = await pass.finish(array(values, [1, width])).data();
    for (const [i, expected] of standardized([...values]).entries()) {
      expect(Math.abs(normed[i]! - expected)).toBeLessThan(1e-6);
    }
  });

  // In f64 by hand; torch.nn.BatchNorm1d in evaluation has as much, with these moments.
  test.each([0, 10, 1000, -1000])(
    'a batch norm that is evaluated, at a mean of %d and a deviation of 1',
    async (mean) => {
      const [rows, batches] = [64, 16];
      const of = (batch: number) =>
        f32(rows, (i) => mean + Math.SQRT2 * Math.sin(0.7 * i + batch) + 0.1 * batch);
      const pass = (values: Float32Array<ArrayBuffer>, given?: JaxArray[]) => {
        const norms = new BatchNorms(runtime.jax, given);
        const normed = norms.normalize(
          array(values, [values.length, 1]),
          array(Float32Array.of(1)),
          array(Float32Array.of(0)),
        );
        return { normed, statistics: norms.statistics };
      };
      const means = new StatisticMeans(normStatistics('norm', 1));
      const all: number[] = [];
      for (let batch = 0; batch < batches; batch++) {
        const values = of(batch);
        all.push(...values);
        const { normed, statistics } = pass(values);
        normed.dispose();
        means.add(await Promise.all(statistics.map((value) => value.data())));
      }
      const given = means.values().map((value) => array(Float32Array.from(value)));
      const tested = of(0.5);
      const measured = await pass(tested, given).normed.data();
      const centre = all.reduce((sum, value) => sum + value, 0) / all.length;
      const variance =
        all.reduce((sum, value) => sum + (value - centre) ** 2, 0) / all.length;
      for (const [i, value] of tested.entries()) {
        const expected = (value - centre) / Math.sqrt(variance + 1e-5);
        // Rounding of the mean itself: half a step of f32 at 1,000 is 3e-5.
        expect(Math.abs(measured[i]! - expected)).toBeLessThan(1e-4);
      }
    },
  );

  test('a batch norm of 600,000 equal steps', async () => {
    const [rows, side] = [150, 64];
    const length = rows * side * side;
    const values = f32(length, (i) => 10.1 + (i % 2));
    const norms = new BatchNorms(runtime.jax, undefined);
    const normed = await norms
      .normalize(
        array(values, [rows, side, side, 1]),
        array(Float32Array.of(1)),
        array(Float32Array.of(0)),
      )
      .data();
    const [low, high] = standardized([values[0]!, values[1]!]);
    expect(Math.abs(normed[0]! - low!)).toBeLessThan(1e-5);
    expect(Math.abs(normed[1]! - high!)).toBeLessThan(1e-5);
    runtime.jax.tree.dispose(norms.statistics);
  });
});
