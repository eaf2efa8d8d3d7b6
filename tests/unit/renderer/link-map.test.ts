import { expect, test } from 'vitest';
import {
  linkFailures,
  linkRows,
  measuredSpan,
  passedOverTexts,
  progressText,
} from '../../../src/renderer/state/cluster/link-map.ts';
import type {
  LinkStatus,
  PairOutcome,
} from '../../../src/shared/machines/link-status.ts';

const link = (from: string, to: string, rate: number, measuredAt = 1): LinkStatus => ({
  from,
  to,
  measure: {
    alpha: 52e-6,
    beta: 8 / rate,
    measuredAt,
    transport: 'native',
    ...{ addresses: { from: '10.0.0.1', to: '10.0.0.2' }, encrypted: true },
  },
});
const error = (message: string) => ({
  at: 1,
  error: { code: 'SSH_UNREACHABLE', kind: 'failure', message } as const,
});

test('every pair has a cell; the tint follows the logarithm of the bandwidth', () => {
  const links = [
    link('a', 'b', 1e9),
    link('b', 'a', 1e7),
    { from: 'a', to: 'c', failure: error('refused') },
  ];
  const rows = linkRows(['a', 'b', 'c'], links);
  expect(rows.map(({ cells }) => cells.map(({ kind }) => kind))).toEqual([
    ['self', 'measured', 'failed'],
    ['measured', 'self', 'unknown'],
    ['unknown', 'unknown', 'self'],
  ]);
  expect(rows[0]!.cells[1]).toMatchObject({
    bandwidth: '1.00 Gbit/s',
    latency: '52.0 µs',
    strength: 1,
    title: '10.0.0.1 → 10.0.0.2, encrypted, over native',
  });
  expect(rows[1]!.cells[0]).toMatchObject({ strength: 0 });
  // What is nearly alike looks so.
  const near = linkRows(['a', 'b'], [link('a', 'b', 1e9), link('b', 'a', 0.9e9)]);
  expect(near[1]!.cells[0]).toMatchObject({ strength: expect.closeTo(0.954, 2) });
});

test('the diagonal has what was measured within a machine, or how to measure it', () => {
  const own = { ranks: 4, alpha: 8e-6, beta: 8 / 54e9, measuredAt: 1 };
  const within = [{ node: 'b', ...own, transport: 'native' }];
  const [here, b, c] = linkRows(['this-computer', 'b', 'c'], [], within).map(
    ({ cells }, row) => cells[row],
  );
  expect(b).toMatchObject({
    kind: 'within',
    bandwidth: '54.0 Gbit/s',
    latency: '8.00 µs',
    title: 'Within b: 4 ranks at once, over native',
  });
  expect(here).toMatchObject({
    kind: 'self',
    title: expect.stringContaining('(gradwire bench network)'),
  });
  expect(c).toMatchObject({
    kind: 'self',
    title: expect.stringContaining('bench network --node c)'),
  });
});

test('a machine out of reach is reported once, with its pairs', () => {
  const links = ['a b', 'b a', 'a c', 'c a', 'b c', 'c b'].map((pair): LinkStatus => {
    const [from, to] = pair.split(' ') as [string, string];
    if (from !== 'c' && to !== 'c') return link(from, to, 1e9);
    return { from, to, failure: error('refused') };
  });
  expect(linkFailures(links)).toMatchObject([{ pairs: 'a – c, b – c' }]);
});

test('when, how far, and why not', () => {
  expect(measuredSpan([])).toBeUndefined();
  expect(measuredSpan([link('a', 'b', 1, 5), link('b', 'a', 1, 3)])).toEqual({
    first: 3,
    last: 5,
  });
  expect(progressText({ done: 0, pairs: 3 })).toBe('Connecting to the machines…');
  expect(progressText({ done: 1, pairs: 3, nodes: ['a', 'b'] })).toBe(
    'Measuring a – b, 2 of 3',
  );
  const skipped = (pair: string, ...busy: string[]): PairOutcome => ({
    nodes: pair.split(' ') as [string, string],
    links: [] as never,
    runs: busy.map((node) => ({ node, run: 'x' })),
  });
  const outcomes = [skipped('a b', 'a', 'b'), skipped('a c', 'a'), skipped('a d', 'a')];
  const tail = 'and measuring would disturb it. Measure again when it has ended.';
  expect(passedOverTexts(outcomes)).toEqual([
    `a – b was skipped: a run is in progress on a and b, ${tail}`,
    `a – c, a – d were skipped: a run is in progress on a, ${tail}`,
  ]);
});
