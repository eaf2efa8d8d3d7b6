/**
 * Linear models of real sparse samples: what ranks that send no zeros learn is what they learn
 * without compression, to the bit, in as many dimensions as Webspam has.
 */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { ofType } from '../harness/records.ts';
import { realDataWith } from '../harness/real-data.ts';

const data = realDataWith('sms.tsv');

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
});

async function train(method: string, file: string, settings: readonly string[]) {
  const run = home.startQuickstart([
    ...[`workload.data=${path.resolve(data!, file)}`, `exchange.method=${method}`],
    ...['optimizer.momentum=0', 'world.ranks=2', 'backend=wasm', 'evaluateEvery=0'],
    ...settings,
  ]);
  succeeded(await run.finished);
  return {
    done: ofType(run.records, 'done')[0]!,
    iterations: ofType(run.records, 'iteration'),
  };
}

test.skipIf(data === undefined)('messages by trigrams in 2²⁴ dimensions', async () => {
  const settings = [
    ...['workload.model=logistic-regression', 'workload.dataset=trigrams'],
    ...['workload.batchPerRank=64', 'optimizer.lr=20', 'iterations=150'],
  ];
  const sparse = await train('nonzero', 'sms.tsv', settings);
  const dense = await train('none', 'sms.tsv', settings);
  expect(sparse.done.weights).toBe(dense.done.weights);
  expect(sparse.done.metric).toBe(dense.done.metric);
  expect(sparse.done.metric).toBeGreaterThan(0.95);
  for (const { bytes, nnzLocal } of sparse.iterations) {
    expect(bytes.dense).toBe(4 * (2 ** 24 + 1));
    // 64 messages have a few thousand trigrams; the bias travels as it is.
    expect(nnzLocal).toBeLessThan(64 * 910);
    expect(bytes.payload).toBe(8 * nnzLocal!);
  }
});

test.skipIf(data === undefined)(
  'a9a is learnt as far as linear models learn it',
  async () => {
    for (const model of ['logistic-regression', 'linear-svm']) {
      const { done } = await train('nonzero', 'a9a.txt', [
        ...[`workload.model=${model}`, 'workload.dataset=svmlight'],
        ...['optimizer.lr=0.1', 'iterations=1000'],
      ]);
      // LIBSVM's own linear models reach 85 % of the usual test part.
      expect(done.metric).toBeGreaterThan(0.83);
    }
  },
);
