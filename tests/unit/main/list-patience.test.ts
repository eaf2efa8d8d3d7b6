/** A machine that does not answer does not delay a list. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIST_MS, withinList } from '../../../src/main/cluster/list-patience.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('an answer in time is passed on, and leaves no timer', async () => {
  expect(await withinList('box', () => Promise.resolve(3))).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});

test('without one the asking is given up, even by what takes no notice of that', async () => {
  let given: AbortSignal | undefined;
  const silent = withinList('box', (signal) => {
    given = signal;
    return new Promise(() => undefined);
  });
  const refused = expect(silent).rejects.toMatchObject({
    code: 'NODE_SILENT',
    place: 'box',
    message: 'no answer within 20 s',
  });
  await vi.advanceTimersByTimeAsync(LIST_MS);
  await refused;
  expect(given?.aborted).toBe(true);
});
