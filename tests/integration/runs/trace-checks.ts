/** Checks of what ranks have traced, against what they have recorded by other ways. */
import { expect } from 'vitest';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { PHASES } from '../../../src/shared/records/phases.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { arrowsOf, baseOf } from '../../../src/shared/trace/message-arrows.ts';
import { machineClocks } from '../../../src/shared/trace/common-clock.ts';
import { clockOffsets } from '../../../src/shared/trace/clock-offsets.ts';

const recordOf = (
  iterations: readonly IterationRecord[],
  { iteration, rank }: TraceRecord,
): IterationRecord =>
  iterations.find((one) => one.iteration === iteration && one.rank === rank)!;

/** Milliseconds of a phase in spans that were not hidden. */
const timeIn = ({ spans }: TraceRecord, phase: string): number =>
  spans
    .filter(([, name, , , , , hidden]) => name === phase && hidden === 0)
    .reduce((sum, [, , , , , duration]) => sum + duration / 1e6, 0);

/** @param hasOwnWall whether the iteration's wall time is that of the trace */
export function expectPhases(
  traces: readonly TraceRecord[],
  iterations: readonly IterationRecord[],
  hasOwnWall: boolean,
): void {
  expect(traces.length).toBeGreaterThan(0);
  for (const one of traces) {
    const { phases, wall } = recordOf(iterations, one);
    expect(one.dropped).toBeUndefined();
    for (const phase of PHASES) {
      if (phase === 'other') continue;
      const recorded = phases[phase] ?? 0;
      // Times are stored in nanoseconds, of which each span's ends are rounded.
      const rounding = one.spans.length * 1e-6;
      expect(
        Math.abs(timeIn(one, phase) - recorded),
        `${phase} of rank ${one.rank} in ${one.iteration}`,
      ).toBeLessThanOrEqual(0.01 * recorded + rounding);
    }
    if (hasOwnWall) expect(Math.abs(one.wall / 1e6 - wall)).toBeLessThan(0.01 * wall);
  }
}

/** Spans of a thread do not overlap. */
export function expectLanes(traces: readonly TraceRecord[]): void {
  for (const { spans, threads } of traces) {
    for (const thread of threads.keys()) {
      const own = spans
        .filter(([on]) => on === thread)
        .map(([, , , , start, duration]) => [start, start + duration] as const)
        .toSorted(([a], [b]) => a - b);
      for (const [index, [start]] of own.entries()) {
        if (index > 0) expect(start).toBeGreaterThanOrEqual(own[index - 1]![1] - 2);
      }
    }
  }
}

/** Messages have the bytes that the sockets counted, and none arrives before it is sent. */
export function expectMessages(
  traces: readonly TraceRecord[],
  iterations: readonly IterationRecord[],
): void {
  for (const one of traces) {
    const { bytes } = recordOf(iterations, one);
    const sent = one.messages.filter(([received]) => received === 0);
    const sum = sent.reduce((total, [, , , , , size]) => total + size, 0);
    expect(sum).toBe((bytes.wireSent ?? 0) - (bytes.framingSent ?? 0));
  }
  expectForward(traces);
}

/**
 * None of the messages arrives before it is sent, and clocks can be compared.
 * @returns how many there are
 */
export function expectForward(traces: readonly TraceRecord[]): number {
  const arrows = arrowsOf(traces, baseOf(traces));
  const all = traces.flatMap(({ messages }) => messages);
  expect(arrows).toHaveLength(all.filter(([received]) => received === 0).length);
  const ranks = [...new Set(traces.map(({ rank }) => rank))];
  const offsets = clockOffsets(ranks, arrows, machineClocks(traces));
  for (const { from, received, sent, to } of arrows) {
    const time = received - offsets.get(to)!.offset - sent + offsets.get(from)!.offset;
    expect(time).toBeGreaterThanOrEqual(-1);
  }
  for (const rank of ranks) {
    expect(Number.isFinite(offsets.get(rank)!.uncertainty)).toBe(true);
  }
  return arrows.length;
}
