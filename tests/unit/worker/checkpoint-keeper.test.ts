import { expect, test } from 'vitest';
import { CheckpointKeeper } from '../../../src/agent/worker/checkpoint-keeper.ts';

const keeper = (from = 0, every = 10): CheckpointKeeper =>
  new CheckpointKeeper(
    {
      owner: {} as never,
      directory: '/nowhere',
      every,
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

test('without an interval there are those alone that are ordered', () => {
  const checkpoints = keeper(30, Infinity);
  checkpoints.expectAfterSwitch(40);
  expect(checkpoints.isDue(1_000_000_000)).toBe(false);
  checkpoints.expect(50);
  expect([49, 50].map((at) => checkpoints.isDue(at))).toEqual([false, true]);
});

test('one that is expected is not put off by another', () => {
  const checkpoints = keeper();
  checkpoints.expect(4);
  checkpoints.expectAfterSwitch(6);
  expect([3, 4].map((at) => checkpoints.isDue(at))).toEqual([false, true]);
});
