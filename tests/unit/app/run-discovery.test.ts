/** Looks for runs that commands have launched: with a reason, and one at a time. */
import { expect, test } from 'vitest';
import { RunDiscovery } from '../../../src/main/app/run-discovery.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('one look at a time, and the news meanwhile are not forgotten', async () => {
  const looks: { isRepeated: boolean; end: (again: boolean) => void }[] = [];
  const discovery = new RunDiscovery(
    (isRepeated) => new Promise((end) => looks.push({ isRepeated, end })),
    () => undefined,
  );
  discovery.look();
  expect(looks).toHaveLength(0);
  for (let second = 0; second < 60; second++) {
    discovery.note();
    discovery.look();
  }
  expect(looks).toHaveLength(1);
  looks[0]!.end(true);
  await settled();
  discovery.look();
  expect(looks.map(({ isRepeated }) => isRepeated)).toEqual([false, false]);
  looks[1]!.end(true);
  await settled();
  discovery.look();
  looks[2]!.end(false);
  await settled();
  discovery.look();
  expect(looks.map(({ isRepeated }) => isRepeated)).toEqual([false, false, true]);
});

test('a look that fails is reported, and others follow', async () => {
  const errors: unknown[] = [];
  let count = 0;
  const discovery = new RunDiscovery(
    () => {
      count++;
      return Promise.reject(new Error('full'));
    },
    (error) => errors.push(error),
  );
  for (let turn = 0; turn < 2; turn++) {
    discovery.note();
    discovery.look();
    await settled();
  }
  expect([count, errors.length]).toEqual([2, 2]);
});
