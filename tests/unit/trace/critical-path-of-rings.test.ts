/** Critical paths of rings with random lengths: what lies on one prolongs the whole, by as much. */
import { describe, expect, test } from 'vitest';
import { PHASES } from '../../../src/shared/records/phases.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { MS, received, recordOf, sent, wordsOf, type Row } from './made-up-traces.ts';

/** A ring of ranks that compute for so long in each step, and then exchange. */
function ringOf(computes: readonly (readonly number[])[]): readonly TraceRecord[] {
  const ranks = computes.length;
  const rows = computes.map((): Row[] => []);
  // Messages of no length both ways, so that the clocks are found to be equal.
  const messages = computes.map((_, rank) => {
    const beside = [(rank + 1) % ranks, (rank + ranks - 1) % ranks];
    return beside.flatMap((peer) => [sent(peer, 1000, 0), received(peer, 1000, 0)]);
  });
  const now = computes.map(() => 0);
  for (const step of computes[0]!.keys()) {
    const ready = now.map((at, rank) => {
      const until = at + computes[rank]![step]!;
      rows[rank]!.push([0, 'compute', at, until], [0, 'send', until, until + 1]);
      messages[rank]!.push(sent((rank + 1) % ranks, step, until));
      return until + 1;
    });
    for (const [rank, at] of ready.entries()) {
      const from = (rank + ranks - 1) % ranks;
      const come = ready[from]! + 1;
      const begin = Math.max(at, come);
      if (come > at) rows[rank]!.push([0, 'wait', at, come, from]);
      rows[rank]!.push([0, 'receive', begin, begin + 1]);
      messages[rank]!.push(received(from, step, begin + 1));
      now[rank] = begin + 1;
    }
  }
  return rows.map((own, rank) => recordOf(rank, own, { messages: messages[rank]! }));
}

const endOf = (records: readonly TraceRecord[]): number =>
  Math.max(...records.map(({ wall }) => wall));

describe.each([1, 2, 3])('a ring with random lengths, %i', (seed) => {
  const random = generator(seed);
  const computes = Array.from({ length: 5 }, () =>
    Array.from({ length: 30 }, () => 1 + Math.floor(20 * random())),
  );
  const timeline = timelineOf(ringOf(computes));
  const [path] = criticalPaths(timeline);
  const { from, parts, to } = path!;

  test('is explained from its begin to its end, without a wait', () => {
    expect([parts[0]!.from, parts.at(-1)!.to]).toEqual([from, to]);
    expect([from, to]).toEqual([0, endOf(ringOf(computes))]);
    for (const [i, part] of parts.entries()) {
      if (i > 0) expect(part.from).toBe(parts[i - 1]!.to);
    }
    const words = wordsOf(timeline, path!).join(' ');
    expect(words).toContain('message');
    expect(words).not.toContain('wait');
  });

  test('lasts as much longer as a compute on the path', () => {
    let prolonged = 0;
    for (const { lane, span } of parts) {
      const own = timeline.lanes[lane];
      if (own === undefined || PHASES[own.phases[span]!] !== 'compute') continue;
      const step = own.phases.slice(0, span).filter((one) => one === own.phases[span]);
      const longer = computes.map((of) => [...of]);
      longer[own.rank]![step.length]! += 3;
      expect(endOf(ringOf(longer))).toBe(to + 3 * MS);
      prolonged++;
    }
    expect(prolonged).toBe(30);
  });
});
