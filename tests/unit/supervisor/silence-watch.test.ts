import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SilenceWatch } from '../../../src/agent/supervisor/ranks/silence-watch.ts';
import type { Notice } from '../../../src/shared/records/notice.ts';

const LOOK_MS = 2000;
let told: Notice[];
let watch: SilenceWatch;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  watch = new SilenceWatch({
    ranks: [0, 1, 2],
    nodeOf: (rank) => `n${rank >> 1}`,
    told: (notice) => told.push(notice),
  });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

/** @param ranks that report something at each look */
function looks(count: number, ranks: readonly number[] = []): void {
  for (let look = 0; look < count; look++) {
    vi.advanceTimersByTime(LOOK_MS);
    for (const rank of ranks) watch.heard(rank);
  }
}

test('ranks that report are no matter; those that do not are named with their nodes, once', () => {
  looks(40, [0, 1, 2]);
  expect(told).toEqual([]);
  looks(40, [1]);
  expect(told.map(({ code, level }) => [code, level])).toEqual([
    ['RANKS_SILENT', 'warning'],
  ]);
  expect(told[0]!.message).toMatch(
    /^rank 0 on n0; rank 2 on n1 have reported nothing for 30 s, longer than ever before/,
  );
  looks(1, [0, 1, 2]);
  looks(1);
  expect(told.at(-1)).toMatchObject({ code: 'RANKS_HEARD', level: 'info' });
  expect(told).toHaveLength(2);
});

test('iterations that are slow are told of once', () => {
  for (let iteration = 0; iteration < 3; iteration++) {
    looks(20);
    looks(1, [0, 1, 2]);
  }
  expect(told.map(({ code }) => code)).toEqual(['RANKS_SILENT', 'RANKS_HEARD']);
  looks(62);
  expect(told).toHaveLength(2);
  looks(3);
  expect(told.at(-1)).toMatchObject({ code: 'RANKS_SILENT' });
});

test('ranks of one node are named together', () => {
  looks(14, [2]);
  expect(told).toEqual([]);
  looks(2, [2]);
  expect(told[0]!.message).toMatch(/^ranks 0, 1 on n0 have reported nothing for 30 s/);
});
