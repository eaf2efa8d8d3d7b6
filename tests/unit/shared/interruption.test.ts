/** What of a run is interrupted now. */
import { expect, it } from 'vitest';
import { openInterruptions } from '../../../src/shared/interruption.ts';
import type { RunRecord } from '../../../src/shared/records.ts';
import { done } from '../main/sample-records.ts';

const interrupted = (node: string, message = 'gone'): RunRecord => ({
  ...{ type: 'interrupted', at: 1, node },
  error: { code: 'WORKER_DIED', kind: 'failure', message },
});
const restarted = (node: string): RunRecord => ({
  ...{ type: 'restarted', at: 2, node, iteration: 20, processes: [] },
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
