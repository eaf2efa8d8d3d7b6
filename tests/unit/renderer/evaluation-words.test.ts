/** Evaluations in a chart's sentence. */
import { expect, it } from 'vitest';
import { evaluationWords } from '../../../src/renderer/charts/evaluation-words.ts';
import type { EvaluationRecord } from '../../../src/shared/records/evaluation.ts';
import { formatQuantity } from '../../../src/shared/words/units.ts';

const evaluation = (iteration: number, loss: number): EvaluationRecord => ({
  type: 'evaluation',
  at: iteration,
  iteration,
  loss,
  samples: 100,
  wall: 1,
});

const EVALUATIONS = [evaluation(199, 0.2034), evaluation(1399, 0.1125)];

it.each([
  { evaluations: [], min: 0, max: 160, words: 'not evaluated yet' },
  { min: 100, max: 260, words: 'test set 0.2034 after iteration 199' },
  // Not the newest one, which is not shown.
  { min: 0, max: 1398.5, words: 'test set 0.2034 after iteration 199' },
  {
    min: 1400,
    max: 1559,
    words: 'test set 0.1125 after iteration 1,399 (before what is shown)',
  },
  {
    min: 400,
    max: 559,
    words: 'test set 0.2034 after iteration 199 (before what is shown)',
  },
  { min: 0, max: 100, words: 'not evaluated in what is shown' },
])('from $min to $max: $words', ({ evaluations = EVALUATIONS, max, min, words }) => {
  const look = { axis: { min, max }, field: 'loss', format: formatQuantity } as const;
  expect(evaluationWords(evaluations, look)).toBe(words);
});

it('names both models where replicas drift', () => {
  const drifted = { ...evaluation(10, 0.5), averaged: { loss: 0.25 } };
  const look = {
    axis: { min: 0, max: 20 },
    field: 'loss',
    format: formatQuantity,
  } as const;
  expect(evaluationWords([drifted], look)).toBe(
    'test set 0.5000 by the replicas, 0.2500 by the averaged model after iteration 10',
  );
});
