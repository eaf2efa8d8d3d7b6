/** What figures take of records, from records that no run made. */
import { expect, test } from 'vitest';
import {
  leastTime,
  meanOver,
  similarityCurve,
  thresholdsOf,
} from '../../../src/reproduce/run-measures.ts';
import { zeroPhases } from '../../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const iteration = (
  rank: number,
  number: number,
  phases: Partial<IterationRecord['phases']>,
  wall = 0,
): IterationRecord => ({
  type: 'iteration',
  rank,
  iteration: number,
  at: 0,
  wall,
  overlapped: 0,
  phases: { ...zeroPhases(), ...phases },
  bytes: {
    dense: 0,
    payload: 0,
    wireSent: 0,
    wireReceived: 0,
    framingSent: 0,
    framingReceived: 0,
  },
  lr: 0,
  epoch: 0,
  method: 'none',
  collective: 'ring',
});

test('the least time is of the phases together, not of each', () => {
  const both = [
    iteration(0, 0, { compress: 1, decompress: 9, wait: 100 }),
    iteration(1, 0, { compress: 6, decompress: 2 }),
  ];
  expect(leastTime(both, ['compress', 'decompress'])).toBe(8);
  expect(leastTime(both, ['compress'])).toBe(1);
  expect(() => leastTime([], ['compress'])).toThrow(
    expect.objectContaining({ code: 'MEASURE_MISSING' }),
  );
});

test('a curve has the iterations in which its measure was observed', () => {
  const similarity = (number: number, residualDistance?: number): RunRecord => ({
    type: 'similarity',
    at: 0,
    iteration: number,
    buckets: [
      {
        tensors: ['w'],
        hammingDistance: 0.5,
        ...(residualDistance === undefined ? {} : { residualDistance }),
      },
    ],
  });
  const records = [similarity(0), similarity(5, 0.8), similarity(10, 0.6)];
  const curve = similarityCurve(records, 'residualDistance');
  expect(curve).toEqual([
    { x: 5, y: 0.8 },
    { x: 10, y: 0.6 },
  ]);
  expect(similarityCurve(records, 'hammingDistance')).toHaveLength(3);
  expect(meanOver(curve, 0, 11, 'likeness')).toBeCloseTo(0.7, 12);
  expect(meanOver(curve, 0, 10, 'likeness')).toBe(0.8);
  expect(() => meanOver(curve, 11, 20, 'likeness')).toThrow(
    'the run has no likeness in iterations 11 to 19',
  );
});

test('thresholds are those of one tensor, whatever the bucket', () => {
  const state = (tensor: string, threshold: number) => ({
    tensor,
    threshold,
    selected: 1,
    wanted: 1,
  });
  const bucket = {
    tensors: [],
    method: 'dct',
    length: 1,
    payload: 1,
  };
  const records: RunRecord[] = [3, 4].map((number) => ({
    type: 'buckets',
    at: 0,
    iteration: number,
    buckets: [
      { ...bucket, thresholds: [state('a', 0.1)] },
      bucket,
      { ...bucket, thresholds: [state('b', 0.2), state('a.bias', 0.3)] },
    ],
  }));
  expect(
    thresholdsOf(records, 'b').map(({ iteration: number, threshold }) => [
      number,
      threshold,
    ]),
  ).toEqual([
    [3, 0.2],
    [4, 0.2],
  ]);
  expect(thresholdsOf(records, 'c')).toEqual([]);
});
