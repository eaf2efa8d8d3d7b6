/** The rules of alerts look at every followed run, whatever another one is like. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inputError } from '../../../src/shared/errors/errors.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import { RunLooks } from '../../../src/main/runs/run-looks.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('drops a purged run, and goes on after one that cannot be looked at', async () => {
  const looked: string[] = [];
  const dropped: string[] = [];
  const troubles: unknown[] = [];
  const damaged = inputError('HISTORY_ROW_INVALID', 'damaged');
  const parts = {
    followers: {
      size: 3,
      ids: () => ['purged', 'damaged', 'whole'],
      drop: (id: string) => dropped.push(id),
    },
    news: {
      lastTold: () => undefined,
      stored: ({ summary }: { summary: { id: string } }) => looked.push(summary.id),
      trouble: (error: unknown) => troubles.push(error),
    },
    store: {
      file: import.meta.filename,
      has: (id: string) => id !== 'purged',
      ownRecords: {
        look: (id: string) => {
          if (id === 'purged') throw inputError('RUN_PURGED', 'purged');
          if (id === 'damaged') throw damaged;
          return { summary: { id }, entries: [] };
        },
      },
    },
  };
  const looks = new RunLooks(parts as unknown as CoordinatorParts);
  vi.advanceTimersByTime(5000);
  await vi.waitFor(() => {
    expect(looked).toEqual(['whole']);
  });
  looks.close();
  expect(dropped).toEqual(['purged']);
  expect(troubles).toEqual([damaged]);
});
