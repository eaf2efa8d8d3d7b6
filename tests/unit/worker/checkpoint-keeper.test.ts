import { expect, test } from 'vitest';
import { CheckpointKeeper } from '../../../src/agent/worker/checkpoint-keeper.ts';

const keeper = (from = 0): CheckpointKeeper =>
  new CheckpointKeeper(
    {
      owner: {} as never,
      directory: '/nowhere',
      every: 10,
      written: () => undefined,
    },
    from,
  );

test('one is due at each multiple, and stays due until it is kept', () => {
  const checkpoints = keeper();
  const due = [1, 9, 10, 11].map((at) => checkpoints.isDue(at));
  expect(due).toEqual([false, false, true, true]);
  expect(keeper(10).isDue(19)).toBe(false);
  expect(keeper(10).isDue(20)).toBe(true);
});

test('one more is due from where it is expected until it is kept', async () => {
  const checkpoints = keeper();
  checkpoints.expect(4);
  expect([3, 4, 5].map((at) => checkpoints.isDue(at))).toEqual([false, true, true]);
  // It cannot be written, and there is one less to be kept all the same.
  await checkpoints
    .keep(5, () => Promise.reject(new Error('no weights')))
    .catch(() => 0);
  expect([6, 9, 10].map((at) => checkpoints.isDue(at))).toEqual([false, false, true]);
});
