import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { endedAt, type RunTimes } from '../../../src/main/store/ended-at.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { done, entries, sampleSpec, started } from './sample-records.ts';

const HOUR = 3_600_000;
const times: RunTimes = {
  createdAt: 10 * HOUR,
  now: 12 * HOUR,
  isHere: false,
  firstAt: 10 * HOUR,
  lastAt: 11 * HOUR,
};

test.each<[string, Partial<RunTimes>, number]>([
  ['one clock', { isHere: true, lastAt: 11 * HOUR + 5 }, 11 * HOUR + 5],
  ['clocks alike', {}, 11 * HOUR],
  ['theirs six hours ahead', { firstAt: 16 * HOUR, lastAt: 17 * HOUR }, 11 * HOUR],
  ['theirs six hours behind', { firstAt: 4 * HOUR, lastAt: 5 * HOUR }, 11 * HOUR],
  ['theirs set back during the run', { lastAt: 9 * HOUR }, 10 * HOUR],
  ['theirs set ahead during the run', { lastAt: 90 * HOUR }, 12 * HOUR],
  ['theirs an hour behind, as seen', { firstAt: 9 * HOUR, ahead: HOUR }, 12 * HOUR],
  ['theirs six ahead, as seen', { lastAt: 17 * HOUR, ahead: -6 * HOUR }, 11 * HOUR],
])('%s', (_, changed, end) => {
  expect(endedAt({ ...times, ...changed })).toBe(end);
});

test('a run that deploys first ends when its last record arrives, whatever the other clock says', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-ended-'));
  const store = RunStore.open(path.join(directory, 'gradwire.db'));
  const spec = sampleSpec();
  const away = { ...spec, world: { ...spec.world, nodes: ['box'] } };
  const createdAt = Date.now();
  // Its clock is six hours behind; 25 s pass before the ranks start.
  const there = createdAt - 6 * HOUR;
  const at = (seconds: number): number => there + 1000 * seconds;
  const arrive = (
    seconds: number,
    from: number,
    ...given: readonly RunRecord[]
  ): void => {
    vi.setSystemTime(createdAt + 1000 * seconds);
    store.records.append('r', entries(given, from), { node: 'box' });
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    store.create({ id: 'r', spec: away, switches: [], createdAt });
    arrive(26, 0, { ...started, at: at(25) });
    arrive(29, 1, { ...done, at: at(28.5) });
    // Seen with a delay of half a second at least.
    expect(store.summary('r').endedAt).toBe(createdAt + 29_000);
  } finally {
    vi.useRealTimers();
    store.close();
    rmSync(directory, { recursive: true });
  }
});
