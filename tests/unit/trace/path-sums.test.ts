/** Sums of critical paths: what each phase of each rank has of a stretch of time. */
import { expect, test } from 'vitest';
import { PHASES } from '../../../src/shared/records/phases.ts';
import {
  criticalPaths,
  pathSums,
  type CriticalPath,
  type PathPart,
} from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { MS, recordOf } from './made-up-traces.ts';

test('sums count each part as far as it lies in the stretch', () => {
  const timeline = timelineOf([
    recordOf(3, [
      [0, 'compute', 0, 10],
      [0, 'wait', 10, 14],
      [0, 'apply', 14, 15],
    ]),
  ]);
  const sums = pathSums(timeline, criticalPaths(timeline), {
    from: 4 * MS,
    to: 12 * MS,
  });
  expect(sums).toEqual([
    { phase: 'compute', rank: 3, time: 6 * MS },
    { phase: 'wait', rank: undefined, time: 2 * MS },
  ]);
});

test('sums of many paths are those of their parts one by one, in whichever order they are asked for', () => {
  const random = generator(12);
  const whole = (most: number): number => 1 + Math.floor(most * random());
  const phases = Uint8Array.from({ length: 40 }, () =>
    Math.floor(PHASES.length * random()),
  );
  let now = 0;
  const paths = Array.from({ length: 8 }, (_, iteration): CriticalPath => {
    const from = now;
    const parts = Array.from({ length: 200 }, (): PathPart => {
      const kind = random();
      const begin = now;
      now += whole(9);
      return {
        rank: Math.floor(3 * random()),
        lane: kind < 0.2 ? -1 : 0,
        span: kind < 0.2 ? -1 : Math.floor(phases.length * random()),
        arrow: kind > 0.9 ? 3 : -1,
        from: begin,
        to: now,
      };
    });
    const path = { iteration, from, to: now, parts };
    now += whole(50);
    return path;
  });
  const timeline = { lanes: [{ ...timelineOf([recordOf(0, [])]).lanes[0]!, phases }] };
  for (let round = 0; round < 100; round++) {
    const from = round % 10 === 0 ? 0 : Math.floor(now * random());
    const stretch = { from, to: round % 10 === 0 ? now : from + whole(now) };
    const expected = new Map<string, number>();
    for (const part of paths.flatMap(({ parts }) => parts)) {
      const time = Math.min(part.to, stretch.to) - Math.max(part.from, stretch.from);
      if (time <= 0) continue;
      const named = part.lane < 0 ? 'other' : PHASES[phases[part.span]!]!;
      const phase = part.arrow >= 0 ? 'wait' : named;
      const name = phase === 'wait' ? 'wait' : `${phase} of ${part.rank}`;
      expected.set(name, time + (expected.get(name) ?? 0));
    }
    const sums = pathSums(timeline, paths, stretch);
    const named = sums.map(({ phase, rank, time }) => [
      rank === undefined ? phase : `${phase} of ${rank}`,
      time,
    ]);
    expect(new Map(named as [string, number][])).toEqual(expected);
    const times = sums.map(({ time }) => time);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  }
});
