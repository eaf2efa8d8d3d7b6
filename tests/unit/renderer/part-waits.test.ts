/** Waits in a part of a run that is read from the store. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PartWaits } from '../../../src/renderer/charts/part-waits.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { waitsIn } from '../../../src/renderer/state/runs/rank-waits.ts';
import { iterationRecord } from './records.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const RANKS = 3;

/** Waits for the moment after which a part that stands still is read. */
async function stand(): Promise<void> {
  vi.advanceTimersByTime(1000);
  await settle();
}

/** An answer with the records of some iterations, in which both others wait for a rank. */
const piece = (from: number, to: number, awaited: number, next?: number) => ({
  entries: Array.from({ length: (to - from) * RANKS }, (_, index) => {
    const rank = index % RANKS;
    const waits = rank !== awaited;
    const record = iterationRecord({
      rank,
      iteration: from + Math.floor(index / RANKS),
      phases: { compute: waits ? 4 : 10, wait: waits ? 6 : 0 },
      waitedFor: waits ? { [String(awaited)]: 6 } : {},
    });
    return { sequence: index, record };
  }),
  ...(next === undefined ? {} : { next: { from: next } }),
});

function begin() {
  const host = new ScriptedHost();
  const waits = new PartWaits(host.connection, 'run');
  const want = (from: number, to: number): void =>
    waits.want({ from, to, ranks: RANKS });
  const awaited = (from: number, to: number) => {
    const held = waits.heldOf({ from, to });
    return held && waitsIn(held, { from, to })?.awaited;
  };
  const asked = (): unknown => host.next('iterations').args[1];
  const failure = (code: string): ErrorData => ({
    code,
    kind: 'failure',
    message: code,
  });
  return { host, waits, want, awaited, asked, failure };
}

test('a part is read piece by piece, and then its waits are known', async () => {
  const { asked, awaited, host, waits, want } = begin();
  const part = { from: 100, to: 120 };
  want(100, 120);
  expect(waits.readingOf(part)).toBe('reading');
  await stand();
  expect(asked()).toMatchObject({ from: 100, to: 120 });
  await host.next('iterations').answer(piece(100, 110, 2, 110));
  expect(waits.readingOf(part)).toBe('reading');
  expect(waits.heldOf(part)).toBeUndefined();
  expect(asked()).toMatchObject({ from: 110, to: 120 });
  await host.next('iterations').answer(piece(110, 120, 2));
  expect(waits.readingOf(part)).toBe('read');
  expect(awaited(100, 120)).toEqual([0, 0, 6]);
  waits.close();
});

test('zooming into a part that was read reads nothing', async () => {
  const { awaited, host, waits, want } = begin();
  want(100, 120);
  await stand();
  await host.next('iterations').answer(piece(100, 120, 1));
  want(105, 115);
  await stand();
  expect(host.waiting('iterations')).toEqual([]);
  expect(awaited(105, 115)).toEqual([0, 6, 0]);
  expect(waits.readingOf({ from: 99, to: 110 })).toBe('reading');
  expect(waits.readingOf({ from: 110, to: 121 })).toBe('reading');
  waits.close();
});

test('of parts that change quickly only the last is read', async () => {
  const { asked, awaited, host, waits, want } = begin();
  for (let from = 0; from < 50; from++) want(from, from + 20);
  await stand();
  expect(host.waiting('iterations')).toHaveLength(1);
  expect(asked()).toMatchObject({ from: 49, to: 69 });
  // Another one is wanted meanwhile: the rest of this one is not asked for.
  want(200, 220);
  await stand();
  await host.next('iterations').answer(piece(49, 59, 0, 59));
  expect(host.waiting('iterations')).toHaveLength(1);
  expect(asked()).toMatchObject({ from: 200, to: 220 });
  await host.next('iterations').answer(piece(200, 220, 1));
  expect(waits.readingOf({ from: 49, to: 69 })).toBe('reading');
  expect(awaited(200, 220)).toEqual([0, 6, 0]);
  waits.close();
});

test('a part that is left half read is not shown, nor is one that waits', async () => {
  const { awaited, host, waits, want } = begin();
  const part = { from: 100, to: 120 };
  want(100, 120);
  await stand();
  waits.leave();
  await host.next('iterations').answer(piece(100, 110, 2, 110));
  expect(host.waiting('iterations')).toEqual([]);
  expect(waits.readingOf(part)).toBe('reading');
  want(300, 320);
  waits.leave();
  await stand();
  expect(host.waiting('iterations')).toEqual([]);
  // It is read from its beginning if it is wanted again.
  want(100, 120);
  await stand();
  await host.next('iterations').answer(piece(100, 120, 2));
  expect(awaited(100, 120)).toEqual([0, 0, 6]);
  waits.close();
});

test('a failure is told of its part alone, and not repeated', async () => {
  const { failure, host, waits, want } = begin();
  want(100, 120);
  await stand();
  await host.next('iterations').fail(failure('RUN_PURGED'));
  expect(waits.readingOf({ from: 100, to: 120 })).toMatchObject({ code: 'RUN_PURGED' });
  expect(waits.readingOf({ from: 101, to: 119 })).toBe('reading');
  want(100, 120);
  await stand();
  expect(host.waiting('iterations')).toEqual([]);
  waits.close();
});

test('a part that a lost connection left unread is read when it is back', async () => {
  const { awaited, failure, host, waits, want } = begin();
  const part = { from: 100, to: 120 };
  want(100, 120);
  await stand();
  await host.next('iterations').fail(failure('CONNECTION_LOST'));
  expect(waits.readingOf(part)).toBe('reading');
  host.tell('resync');
  await stand();
  await host.next('iterations').answer(piece(100, 120, 0));
  expect(awaited(100, 120)).toEqual([6, 0, 0]);
  waits.close();
});
