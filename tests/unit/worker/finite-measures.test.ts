import { expect, test } from 'vitest';
import {
  FiniteMeasures,
  requireFiniteStep,
} from '../../../src/agent/worker/finite-measures.ts';

function measures() {
  const own: string[] = [];
  const all: string[] = [];
  const finite = new FiniteMeasures({
    own: ({ code, message }) => own.push(`${code}: ${message}`),
    ofAll: ({ code, message }) => all.push(`${code}: ${message}`),
  });
  return { finite, own, all };
}

test.each([
  [{ loss: NaN, metric: 0.5 }, 'the training loss is NaN in iteration 7'],
  [{ loss: Infinity, metric: 0.5 }, 'the training loss is Infinity in iteration 7'],
  [{ loss: 1, metric: NaN }, 'the training accuracy is NaN in iteration 7'],
])('a step of %o ends training', (step, message) => {
  expect(() => {
    requireFiniteStep(step, { rank: 2, iteration: 7, title: 'accuracy' });
  }).toThrowError(
    expect.objectContaining({ code: 'LOSS_NOT_FINITE', message, rank: 2 }) as Error,
  );
});

test('a step that is finite goes on, however large', () => {
  requireFiniteStep(
    { loss: Number.MAX_VALUE, metric: 0 },
    { rank: 0, iteration: 0, title: 'accuracy' },
  );
});

test('a metric without a meaning is absent, without a notice', () => {
  const step = { loss: 0.5, metric: undefined };
  requireFiniteStep(step, { rank: 0, iteration: 0, title: 'AUC' });
  const { finite, own, all } = measures();
  const measured = finite.evaluation(step, 9, { title: 'AUC', whose: '' });
  expect(measured).toStrictEqual({ loss: 0.5 });
  expect([...own, ...all]).toEqual([]);
});

test('of a norm that is not finite its rank says so', () => {
  const { finite, own, all } = measures();
  finite.residualNorm(2, 10);
  finite.residualNorm(undefined, 11);
  expect(own).toEqual([]);
  finite.residualNorm(Infinity, 20);
  expect(own).toEqual([
    'MEASURE_NOT_FINITE: the norm of the residual in iteration 20 is Infinity: ' +
      'training diverges; lower the learning rate',
  ]);
  expect(all).toEqual([]);
});

test('of how alike the ranks are, what is finite stays', () => {
  const { finite, own, all } = measures();
  const tensors = ['a', 'b'];
  expect(
    finite.similarities(
      [
        { tensors, residualDistance: 0.5 },
        { tensors, residualDistance: -Infinity, hammingDistance: 0, contraction: NaN },
      ],
      4,
    ),
  ).toEqual([
    { tensors, residualDistance: 0.5 },
    { tensors, hammingDistance: 0 },
  ]);
  expect(all.map((text) => text.split(':')[1])).toEqual([
    ' residualDistance of bucket 1 in iteration 4 is -Infinity',
    ' contraction of bucket 1 in iteration 4 is NaN',
  ]);
  expect(own).toEqual([]);
});
