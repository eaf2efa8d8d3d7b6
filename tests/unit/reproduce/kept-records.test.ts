/** Figures that look at some of a run's records alone, and what they take from these. */
import { expect, test } from 'vitest';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const thresholds = [75, 90, 95].map((percent) => ({
  sparsity: percent / 100,
  mean: percent / 1000,
}));
/** Of a run of two ranks, with what the figures take from theirs. */
const records = [
  { type: 'started' },
  ...Array.from({ length: 20 }, (_, iteration) => [
    { type: 'iteration', rank: 0, iteration, loss: 1 },
    {
      type: 'iteration',
      rank: 1,
      iteration,
      loss: 1,
      ...(iteration % 10 === 9 ? { activations: { thresholds } } : {}),
    },
  ]).flat(),
  { type: 'evaluation', iteration: 19, loss: 0.45, metric: 0.8 },
  { type: 'done', loss: 0.5, metric: 0.8 },
] as unknown as readonly RunRecord[];

const choosy = figures.filter(({ keeps }) => keeps !== undefined);

test('there are some', () => {
  expect(choosy.map(({ id }) => id)).toContain('dct-figure-5');
});

test.each(choosy.map((figure) => [figure.id, figure] as const))(
  '%s takes the same from the records that it keeps as from all',
  (_, figure) => {
    const kept = records.filter((record) => figure.keeps!(record));
    expect(kept.length).toBeLessThan(records.length / 4);
    expect(figure.measure(kept)).toEqual(figure.measure(records));
  },
);
