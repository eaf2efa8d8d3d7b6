/**
 * DLRM on click logs: what ranks that send no zeros learn is what they learn without compression,
 * to the bit, and more than a linear model can.
 */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { ofType } from '../harness/records.ts';
import { realDataWith } from '../harness/real-data.ts';

const data = realDataWith('adult.data.gz');

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
});

async function train(settings: readonly string[]) {
  const run = home.startQuickstart([
    ...['workload.dataset=clicks', 'workload.batchPerRank=128', 'world.ranks=2'],
    ...['backend=wasm', 'evaluateEvery=0', 'iterations=150'],
    ...settings,
  ]);
  succeeded(await run.finished);
  return {
    done: ofType(run.records, 'done')[0]!,
    evaluation: ofType(run.records, 'evaluation').at(-1)!,
    iterations: ofType(run.records, 'iteration'),
  };
}

const dlrm = ['workload.model=dlrm-small', 'optimizer={kind: adagrad, lr: 0.02}'];

test('DLRM learns what a linear model cannot, exactly as without compression', async () => {
  const sparse = await train([...dlrm, 'exchange={method: nonzero}']);
  const dense = await train([...dlrm, 'exchange={method: none}']);
  expect(sparse.done.weights).toBe(dense.done.weights);
  expect(sparse.done.metric).toBe(dense.done.metric);
  expect(sparse.done.metric).toBeGreaterThan(0.75);
  for (const { bytes, nnzLocal } of sparse.iterations) {
    expect(bytes.dense).toBe(4 * (16 * 2 ** 14 + 25_553));
    // 26 columns of 8 categories, and the dense layers.
    expect(nnzLocal).toBeLessThanOrEqual(26 * 8 * 16 + 25_553);
  }
  const linear = await train([
    ...['workload.model=logistic-regression', 'optimizer={kind: adagrad, lr: 0.05}'],
    'exchange={method: nonzero}',
  ]);
  expect(linear.evaluation.loss! - sparse.evaluation.loss!).toBeGreaterThan(0.08);
});

test.skipIf(data === undefined)('Adult, as far as others get', async () => {
  const { done } = await train([
    ...[...dlrm, 'optimizer.lr=0.01', 'exchange={method: nonzero}'],
    ...['workload.dataset=csv', 'workload.columns.label=income'],
    `workload.data=${path.resolve(data!, 'adult.data.gz')}`,
  ]);
  // The usual figure of logistic regression is 0.90, of boosted trees 0.92.
  expect(done.metric).toBeGreaterThan(0.89);
});
