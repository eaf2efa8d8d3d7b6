/**
 * Critical paths of programs that average by themselves: an arrow from each rank to each sum, of
 * which the one from the rank that was last decides, if it was later than the rank's own.
 */
import { expect, test } from 'vitest';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { recordOf, received, sent, wordsOf, type Row } from './made-up-traces.ts';

/** Sums on a rank: [begin, end], ms. */
type Sums = readonly (readonly [number, number])[];

function programOf(rank: number, rows: readonly Row[], sums: Sums): TraceRecord {
  const peers = [0, 1, 2].filter((peer) => peer !== rank);
  let reached = 0;
  const network = sums.map(([begin, end]): Row => {
    const since = Math.max(begin, reached);
    reached = end;
    return [1, 'wait', since, end];
  });
  return recordOf(rank, [...rows, ...network], {
    threads: ['program', 'network'],
    clock: 'boot',
    messages: sums.flatMap(([begin, end], number) =>
      peers.flatMap((peer) => [sent(peer, number, begin), received(peer, number, end)]),
    ),
  });
}

const pathIn = (...records: readonly TraceRecord[]): readonly string[] => {
  const timeline = timelineOf(records);
  const [path] = criticalPaths(timeline);
  return wordsOf(timeline, path!);
};

const backward = (until: number): readonly Row[] => [
  [0, 'forward', 0, 4],
  [0, 'backward', 4, until],
];
const FAST = backward(10);
const apply = (from: number): Row => [0, 'apply', from, from + 3];

test('the backward pass of the rank that was last, on whichever the step ends', () => {
  const sums = (begin: number): Sums => [[begin, 31]];
  const path = pathIn(
    programOf(0, [...FAST, apply(31.5)], sums(10)),
    programOf(1, [...backward(30), apply(31)], sums(30)),
    programOf(2, [...FAST, apply(31)], sums(10)),
  );
  expect(path).toEqual([
    ...['1 forward 0–4', '1 backward 4–30', '0 message 30–31', '0 nothing 31–31.5'],
    '0 apply 31.5–34.5',
  ]);
});

test('the rank’s own passes, if it was the last itself', () => {
  const path = pathIn(
    programOf(0, [...backward(20), apply(26)], [[20, 26]]),
    programOf(1, [...FAST, apply(26)], [[10, 26]]),
    programOf(2, [...FAST, apply(26)], [[12, 26]]),
  );
  expect(path).toEqual([
    ...['0 forward 0–4', '0 backward 4–20', '0 wait 20–26', '0 apply 26–29'],
  ]);
});

test('the network, where one sum follows the other', () => {
  const sums: Sums = [
    [6, 20],
    [9, 34],
    [10, 48],
  ];
  const path = pathIn(
    ...[0, 1, 2].map((rank) => programOf(rank, [...FAST, apply(48)], sums)),
  );
  expect(path).toEqual([
    ...['0 forward 0–4', '0 backward 4–6', '0 wait 6–20', '0 wait 20–34'],
    ...['0 wait 34–48', '0 apply 48–51'],
  ]);
});
