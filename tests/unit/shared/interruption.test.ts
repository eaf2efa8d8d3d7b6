/** What of a run is interrupted now. */
import { expect, it } from 'vitest';
import {
  describeRestart,
  openInterruptions,
  pastRestarts,
} from '../../../src/shared/records/interruption.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { done } from '../main/sample-records.ts';

const interrupted = (node: string, message = 'gone'): RunRecord => ({
  type: 'interrupted',
  at: 1,
  node,
  error: { code: 'WORKER_DIED', kind: 'failure', message },
});
const restarted = (node: string): RunRecord => ({
  type: 'restarted',
  at: 2,
  node,
  iteration: 20,
  processes: [],
});
const nodes = (events: readonly RunRecord[]): readonly string[] =>
  openInterruptions(events).map(({ node }) => node);

it('is what no restart of the same node has followed', () => {
  expect(nodes([])).toEqual([]);
  expect(nodes([interrupted('a'), interrupted('b')])).toEqual(['a', 'b']);
  expect(nodes([interrupted('a'), interrupted('b'), restarted('a')])).toEqual(['b']);
  expect(nodes([interrupted('a'), restarted('a'), interrupted('a')])).toEqual(['a']);
  const twice = [interrupted('a', 'first'), interrupted('a', 'second')];
  expect(openInterruptions(twice).map(({ error }) => error.message)).toEqual([
    'second',
  ]);
});

it('is nothing of a run that has ended', () => {
  expect(nodes([interrupted('a'), done])).toEqual([]);
});

it('past restarts are reported once each with their cause, for any nodes', () => {
  const lost = (node: string, at: number, code: string): RunRecord => ({
    type: 'interrupted',
    at,
    node,
    error: { code, kind: 'failure', message: `${code} of ${node}` },
  });
  const again = (node: string, at: number, iteration: number): RunRecord => ({
    type: 'restarted',
    at,
    node,
    iteration,
    processes: [],
  });
  const events = [
    ...[lost('a', 1000, 'PEER_LOST'), lost('b', 2000, 'WORKER_DIED')],
    ...[again('a', 8000, 20), again('b', 9000, 20)],
    // From the same checkpoint once more.
    ...[lost('b', 10_000, 'WORKER_DIED'), lost('a', 11_000, 'PEER_LOST')],
    ...[again('b', 12_000, 20), again('a', 13_000, 20)],
    lost('a', 20_000, 'PEER_LOST'),
  ];
  const restarts = pastRestarts(events);
  expect(restarts.map(({ cause, ...rest }) => [rest, cause?.node])).toEqual([
    [{ lostAt: 1000, at: 9000, iteration: 20 }, 'b'],
    [{ lostAt: 10_000, at: 13_000, iteration: 20 }, 'b'],
  ]);
  expect(describeRestart(restarts[0]!, ['a', 'b'])).toMatch(
    /^restarted [-\d]+ [:\d]+ from the checkpoint at iteration 20, after 8 s: b: WORKER_DIED of b$/,
  );
  // Records have this computer's host name.
  expect(describeRestart(restarts[0]!, ['this-computer', 'a'])).toMatch(
    /, after 8 s: this computer: WORKER_DIED of b$/,
  );
  const [fromNothing] = pastRestarts([again('a', 5, 0)]);
  expect(describeRestart(fromNothing!, ['a'])).toMatch(
    / from the beginning, after 0 s$/,
  );
  expect(pastRestarts([again('a', 5, 3)])).toEqual([
    { lostAt: 5, at: 5, iteration: 3, cause: undefined },
  ]);
});
