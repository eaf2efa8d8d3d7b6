/** Followers that fail as they begin, and are tried again. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { failure } from '../../../src/shared/errors/errors.ts';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import type { JournalFollower } from '../../../src/main/runs/journal-follower.ts';
import { RunFollowers } from '../../../src/main/runs/run-followers.ts';
import { entries, started } from './sample-records.ts';

const busy = (): Error => failure('DATABASE_BUSY', 'another process holds it');

/** Retries of a follower that could not store, each after this time. */
const RETRY_MS = 2000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function scripted() {
  const troubles: unknown[] = [];
  const subscribed: JournalFollower[] = [];
  const news = {
    begin: vi.fn<() => void>(),
    lastTold: () => undefined,
    tellRest: () => undefined,
    trouble: (error: unknown) => troubles.push(error),
  };
  const store = {
    has: () => true,
    summary: () => ({ state: 'running' }),
    journals: { position: () => 0, isOpen: () => true },
    records: {
      append: vi.fn<() => void>(() => {
        throw busy();
      }),
    },
  };
  const connection = {
    subscribe: (_run: string, _after: number, follower: JournalFollower) => {
      subscribed.push(follower);
      follower.subscribed();
      return Promise.resolve(10);
    },
    leave: () => undefined,
    request: () => Promise.resolve({}),
  };
  const link = {
    name: 'this-computer',
    connection,
    connect: () => Promise.resolve(connection),
  } as unknown as NodeLink;
  const followers = new RunFollowers({ news, store } as unknown as CoordinatorParts);
  return { followers, link, news, subscribed, troubles };
}

it('does not keep a follower whose run could not be told', async () => {
  const { followers, link, news, subscribed } = scripted();
  news.begin.mockImplementationOnce(() => {
    throw busy();
  });
  await expect(followers.follow(link, 'run')).rejects.toThrow('another process');
  expect(followers.has('run')).toBe(false);
  // So it can be followed later.
  await followers.follow(link, 'run');
  expect(subscribed).toHaveLength(1);
  expect(followers.has('run', link)).toBe(true);
});

it('tries again until the store can be used', async () => {
  const { followers, link, news, subscribed, troubles } = scripted();
  await followers.follow(link, 'run');
  const fail = (): void => {
    throw busy();
  };
  news.begin.mockImplementationOnce(fail).mockImplementationOnce(fail);
  subscribed[0]!.push(entries([started]));
  await vi.advanceTimersByTimeAsync(200);
  expect(followers.has('run')).toBe(false);
  await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
  expect(followers.has('run')).toBe(false);
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(followers.has('run', link)).toBe(true);
  expect(subscribed).toHaveLength(2);
  expect(troubles).toHaveLength(3);
  followers.close();
});
