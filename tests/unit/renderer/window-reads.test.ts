/** Reads of bins: one at a time, and the latest that is wanted. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { BinWindow } from '../../../src/renderer/state/history/bin-window.ts';
import { WindowReads } from '../../../src/renderer/state/history/window-reads.ts';
import type { BinsQuery } from '../../../src/shared/rpc/run-pieces.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const history = new RunHistory(2);

/** Reads that the test ends one by one. */
function openReads() {
  const begun: BinsQuery[] = [];
  const ends: ((fault?: unknown) => void)[] = [];
  let draws = 0;
  const errors: unknown[] = [];
  const reads = new WindowReads(
    {
      window: async (query, ranks, complete) => {
        begun.push(query);
        const fault = await new Promise<unknown>((resolve) => ends.push(resolve));
        if (fault !== undefined) throw fault;
        return new BinWindow(query, ranks, complete);
      },
    },
    {
      onread: () => undefined,
      onwanted: () => draws++,
      onerror: (error) => errors.push(error),
    },
  );
  const want = (from: number, purpose = 'bars', to = from + 100): void =>
    reads.want(history, {
      from,
      to,
      width: 1,
      rank: undefined,
      purpose,
      isOpen: false,
    });
  const end = async (fault?: unknown): Promise<void> => {
    ends.shift()!(fault);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { begun, end, errors, reads, want, draws: () => draws };
}

it('asks for one at a time, and then for the latest of each purpose', async () => {
  const { begun, end, want } = openReads();
  for (const from of [0, 100, 200, 300]) {
    want(from);
    want(from, 'curves', from + 50);
  }
  expect(begun.map(({ from, to }) => [from, to])).toEqual([[0, 100]]);
  await end();
  await end();
  await end();
  expect(begun.map(({ from, to }) => [from, to])).toEqual([
    [0, 100],
    [300, 350],
    [300, 400],
  ]);
});

it('does not ask again for what is being read, and drops what is not wanted any longer', async () => {
  const { begun, end, want } = openReads();
  want(0);
  want(100);
  want(0);
  await end();
  expect(begun).toHaveLength(1);
});

it('draws again after a pause if the same bins are still wanted', async () => {
  const { begun, draws, end, want } = openReads();
  want(0);
  await end();
  want(0);
  expect(begun).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2000);
  expect(draws()).toBe(1);
  want(0);
  expect(begun).toHaveLength(2);
  await end();
  await vi.advanceTimersByTimeAsync(2000);
  expect(draws()).toBe(1);
});

it('goes on after a read that failed', async () => {
  const { begun, end, errors, want } = openReads();
  want(0);
  want(100);
  await end('lost');
  expect(errors).toEqual(['lost']);
  expect(begun.map(({ from }) => from)).toEqual([0, 100]);
});

it('leaves no timer and asks for nothing once it is closed', async () => {
  const { begun, draws, end, reads, want } = openReads();
  want(0);
  want(100);
  reads.close();
  await end();
  expect(begun).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
  expect(draws()).toBe(0);
});
