/** The measure on the test set around a switch. */
import { describe, expect, it } from 'vitest';
import type { EvaluationRecord } from '../../../src/shared/records/evaluation.ts';
import { ACCURACY, NO_METRIC } from '../../../src/shared/records/metric.ts';
import {
  describeMeasure,
  measureAround,
} from '../../../src/shared/verdict/measure-around.ts';

const evaluation = (
  iteration: number,
  metric: number | undefined,
  averaged?: EvaluationRecord['averaged'],
): EvaluationRecord => ({
  type: 'evaluation',
  iteration,
  at: iteration,
  samples: 2000,
  wall: 20,
  ...(metric === undefined ? {} : { metric }),
  ...(averaged === undefined ? {} : { averaged }),
});

const RUN = [199, 399, 599, 799, 999].map((iteration, index) =>
  evaluation(iteration, 0.9 + 0.01 * index),
);

describe('the measure around a switch', () => {
  it('is that of the last evaluation before the fence, and of the first after it', () => {
    const around = measureAround(RUN, 677)!;
    expect(around).toEqual({ before: 0.92, after: 0.93, iteration: 799 });
    expect(describeMeasure(around, ACCURACY)).toBe(
      'accuracy 92.0 % on the test set before, 93.0 % after iteration 799',
    );
    expect(describeMeasure(around, NO_METRIC)).toBe('');
  });

  it('counts the iteration of the fence as one under the plan', () => {
    expect(measureAround(RUN, 599)).toMatchObject({ after: 0.92, iteration: 599 });
    expect(measureAround(RUN, 600)).toMatchObject({ before: 0.92, iteration: 799 });
  });

  it.each([
    ['nothing was evaluated before', RUN, 100, undefined],
    ['nothing was evaluated since', RUN, 1000, undefined],
    ['the next switch came first', RUN, 677, 790],
    ['a measure was not finite', [evaluation(1, 0.5), evaluation(3, undefined)], 2, 9],
  ])('is unknown where %s', (_what, events, fence, until) => {
    expect(measureAround(events, fence, until)).toBeUndefined();
  });

  it('is that of the averaged model, if replicas drift', () => {
    const events = [evaluation(1, 0.5), evaluation(3, 0.9, { metric: 0.2 })];
    expect(measureAround(events, 2)).toMatchObject({ before: 0.5, after: 0.2 });
  });
});
