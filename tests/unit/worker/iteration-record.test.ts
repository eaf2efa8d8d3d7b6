/** The times of an iteration's record: disjoint, complete, and no longer than clocks tell. */
import { expect, test } from 'vitest';
import {
  makeIterationRecord,
  type IterationFacts,
} from '../../../src/agent/worker/iteration-record.ts';
import type { ExchangeResult } from '../../../src/agent/exchange/exchange-calls.ts';
import type { ExchangeProfile } from '../../../src/agent/profile/phase-clock.ts';
import { sumPhases, zeroPhases } from '../../../src/shared/records/phases.ts';

const profile = (wait: number, reduce: number): ExchangeProfile => ({
  phases: { ...zeroPhases(), wait, reduce },
  waitedFor: { 1: wait },
  overlapped: 1 / 3,
  wall: wait + reduce,
});

function recordOf(
  wall: number,
  averages: readonly ExchangeProfile[],
  exchange?: ExchangeResult,
) {
  const facts: IterationFacts = {
    rank: 0,
    iteration: 3,
    length: 10,
    lr: 0.1,
    staleness: 0,
    marks: { at: 1, wall, data: 0.1 + 0.2, compute: 2 / 3, apply: 1 / 7 },
    step: { loss: 2 / 3, metric: 1 },
    exchange,
    inForce: { epoch: 0, plan: { method: 'none', collective: 'auto' } },
    averages,
  };
  return makeIterationRecord(facts);
}

test('times are whole nanoseconds that add up to the wall time', () => {
  const { wall, phases, waitedFor, overlapped, loss } = recordOf(10 / 3, [
    profile(1 / 9, 2 / 9),
    profile(0.1 + 0.7, 1 / 11),
  ]);
  const times = [wall, overlapped, ...Object.values(phases), waitedFor!['1']!];
  for (const time of times) expect(String(time)).toMatch(/^\d+(\.\d{1,6})?$/);
  expect(sumPhases(phases)).toBeCloseTo(wall, 9);
  expect(phases).toMatchObject({ data: 0.3, compute: 0.666667, wait: 0.911111 });
  expect(waitedFor).toEqual({ 1: 0.911111 });
  expect(wall).toBe(3.333333);
  // No time: it stays as it was computed.
  expect(loss).toBe(2 / 3);
});

test('what is measured beyond the wall time makes no time negative', () => {
  const { phases } = recordOf(0.5, []);
  expect(phases.other).toBe(0);
});

test.each([
  [2, { residualNorm: 2 }],
  [undefined, {}],
  [Infinity, {}],
  [NaN, {}],
])('a norm of the residual of %d is %o in the record', (residualNorm, expected) => {
  const ledger = { wireSent: 0, wireReceived: 0, framingSent: 0, framingReceived: 0 };
  const exchange = {
    profile: profile(0, 0),
    bytes: { ...ledger, payload: 0, imbalance: 0 },
    statistics: {},
    residualNorm,
    epoch: 0,
    method: 'topk',
    collective: 'ssar',
    notices: [],
  } as unknown as ExchangeResult;
  const { residualNorm: norm } = recordOf(1, [], exchange);
  expect(norm === undefined ? {} : { residualNorm: norm }).toEqual(expected);
});
