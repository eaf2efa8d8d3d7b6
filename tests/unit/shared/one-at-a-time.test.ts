import { expect, test } from 'vitest';
import { OneAtATime } from '../../../src/shared/async/one-at-a-time.ts';

/** Work whose runs are ended by the test, in turn. */
function gated() {
  const gates: PromiseWithResolvers<void>[] = [];
  const work = new OneAtATime(() => {
    gates.push(Promise.withResolvers());
    return gates.at(-1)!.promise;
  });
  return { gates, work };
}

/** Everything that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls during a run have it run once more, after it', async () => {
  const { gates, work } = gated();
  const first = work.run();
  const others = [work.run(), work.run(), work.run()];
  expect(gates).toHaveLength(1);
  gates[0]!.resolve();
  await settled();
  expect([gates.length, work.isRunning]).toEqual([2, true]);
  gates[1]!.resolve();
  await Promise.all([first, ...others]);
  expect([gates.length, work.isRunning]).toEqual([2, false]);
});

test('a call at the very end of a run is not lost', async () => {
  const { gates, work } = gated();
  const first = work.run();
  gates[0]!.resolve();
  const next = first.then(() => work.run());
  await settled();
  expect(gates).toHaveLength(2);
  gates[1]!.resolve();
  await next;
});

test('a call that comes from the work itself is one, too', async () => {
  let runs = 0;
  const work: OneAtATime = new OneAtATime(() => {
    runs++;
    if (runs < 3) void work.run();
    return Promise.resolve();
  });
  await work.run();
  expect(runs).toBe(3);
});

test('a failure is that of its callers, unless it runs once more', async () => {
  const { gates, work } = gated();
  const alone = work.run();
  gates[0]!.reject(new Error('lost'));
  await expect(alone).rejects.toThrow('lost');
  const twice = work.run();
  void work.run();
  gates[1]!.reject(new Error('lost again'));
  await settled();
  gates[2]!.resolve();
  await twice;
  expect([gates.length, work.isRunning]).toEqual([3, false]);
});

test('closed, it begins no other', async () => {
  const { gates, work } = gated();
  const first = work.run();
  void work.run();
  work.close();
  gates[0]!.resolve();
  await first;
  await work.run();
  expect(gates).toHaveLength(1);
});
