/** Traces that are written by hand: rows of spans and messages, in ms, and paths in words. */
import { PHASES, type Phase } from '../../../src/shared/records/phases.ts';
import type { TraceRecord, TraceSpan } from '../../../src/shared/records/trace.ts';
import type { CriticalPath } from '../../../src/renderer/charts/timeline/critical-path.ts';
import type { Timeline } from '../../../src/shared/trace/timeline.ts';

export const MS = 1e6;

export type Message = TraceRecord['messages'][number];

/** [thread, phase, from, to, awaited rank], ms. */
export type Row = readonly [number, Phase, number, number, number?];

const spansOf = (rows: readonly Row[]): TraceSpan[] =>
  rows.map(([thread, phase, from, to, peer = -1]) => {
    return [thread, phase, -1, peer, from * MS, (to - from) * MS, 0];
  });

export const sent = (to: number, sequence: number, at: number): Message => {
  return [0, to, 0, 16, sequence, 8, at * MS];
};
export const received = (from: number, sequence: number, at: number): Message => {
  return [1, from, 0, 16, sequence, 8, at * MS];
};

export function recordOf(
  rank: number,
  rows: readonly Row[],
  own: Partial<TraceRecord> = {},
): TraceRecord {
  const last = Math.max(...rows.map(([, , , to]) => to));
  return {
    type: 'trace',
    at: 0,
    rank,
    iteration: 7,
    origin: 1000,
    wall: last * MS,
    threads: ['rank'],
    buckets: [],
    spans: spansOf(rows),
    messages: [],
    ...own,
  };
}

/** The parts of a path in words: `1 compute 0–10`, ms. */
export const wordsOf = (
  { lanes }: Timeline,
  { parts }: CriticalPath,
): readonly string[] =>
  parts.map(({ arrow, from, lane, rank, span, to }) => {
    const what =
      arrow >= 0
        ? 'message'
        : lane < 0
          ? 'nothing'
          : PHASES[lanes[lane]!.phases[span]!]!;
    return `${rank} ${what} ${from / MS}–${to / MS}`;
  });
