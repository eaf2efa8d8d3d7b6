import { expect, test } from 'vitest';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { reversal } from '../../../src/agent/training/datasets/reversal.ts';
import { stepTogether, trainerOptions } from './train-together.ts';

const inputs = {
  source: { type: 'i32' as const, shape: ['any' as const], below: 16 },
  target: { type: 'i32' as const, shape: ['any' as const], below: 16 },
};

test('a target is its source from the end, between two marks, filled up with 0', async () => {
  const {
    train,
    test: rest,
    lengths,
  } = await reversal.open({
    inputs,
    rank: 0,
    world: 1,
  });
  expect(reversal.inspect({ inputs })).toEqual({ train: 9000, test: 1000 });
  expect([train.count, rest.count, lengths]).toEqual([
    ...[9000, 1000],
    { source: 8, target: 10 },
  ]);
  const fields = {
    source: { type: 'i32' as const, shape: [8] },
    target: { type: 'i32' as const, shape: [10] },
  };
  const batch = allocateBatch(fields, 500);
  for (const values of Object.values(batch)) values.fill(9);
  train.read(
    Uint32Array.from({ length: 500 }, (_, i) => i),
    batch,
  );
  const seen = new Set<number>();
  for (let row = 0; row < 500; row++) {
    const source = [...batch['source']!.subarray(8 * row, 8 * (row + 1))];
    const word = source.filter((token) => token > 0);
    seen.add(word.length);
    expect(word.every((token) => token >= 2 && token < 16)).toBe(true);
    expect(source).toEqual([...word, ...Array<number>(8 - word.length).fill(0)]);
    expect([...batch['target']!.subarray(10 * row, 10 * (row + 1))]).toEqual([
      ...[1, ...word.toReversed(), 1],
      ...Array<number>(8 - word.length).fill(0),
    ]);
  }
  expect([...seen].sort()).toEqual([3, 4, 5, 6, 7, 8]);
});

test('ranks have different pairs, and the test part none of those to train', async () => {
  const fields = { source: { type: 'i32' as const, shape: [8] } };
  const first = async (rank: number, part: 'train' | 'test'): Promise<string> => {
    const shard = await reversal.open({ inputs, rank, world: 2 });
    const batch = allocateBatch(fields, 4);
    shard[part].read(Uint32Array.of(0, 1, 2, 3), batch);
    return batch['source']!.join();
  };
  const all = await Promise.all([
    ...[first(0, 'train'), first(1, 'train'), first(0, 'test'), first(1, 'test')],
  ]);
  expect(new Set(all).size).toBe(4);
});

test('a rank of four trains a model of it, and counts tokens without padding', async () => {
  const run = {
    dataset: 'reversal',
    world: 4,
    batchPerRank: 8,
    lr: 0.01,
    iterations: 3,
  };
  const trainer = await createTrainer({
    ...trainerOptions(run, 0),
    model: 'transformer-seq2seq',
    optimizer: { kind: 'adam', lr: 0.01, momentum: 0, schedule: 'constant' },
  });
  try {
    const losses: number[] = [];
    for (let iteration = 0; iteration < 3; iteration++) {
      losses.push(await stepTogether([trainer], iteration));
    }
    expect(losses.at(-1)!).toBeLessThan(losses[0]!);
    const sums = await trainer.evaluate();
    const [samples, , right, counted] = sums;
    expect(samples).toBe(250);
    // The letters, and the mark behind the last: 6.5 tokens of a pair in the mean.
    expect(counted! / samples).toBeCloseTo(6.5, 0);
    expect(trainer.measuresOf(sums).metric).toBeCloseTo(right! / counted!);
  } finally {
    trainer.close();
  }
});
