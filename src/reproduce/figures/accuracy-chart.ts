/** The accuracy of several trainings over their iterations. */
import { meanCurve, type Chart } from '../chart/chart.ts';
import type { Case } from '../figure.ts';
import type { Sweep } from '../sweep.ts';

/** @param trainings cases, and how the chart names them */
export const accuracyChart = (
  sweep: Sweep,
  trainings: readonly (Pick<Case, 'id'> & { readonly name: string })[],
): Chart => ({
  kind: 'lines',
  caption:
    'Accuracy on the test set by iteration. Means over the seeds; bars span the lowest to the highest value.',
  x: { label: 'iterations', scale: 'linear' },
  y: { label: 'accuracy (%)', scale: 'linear' },
  series: trainings.map(({ id, name }) => ({
    name,
    points: meanCurve(sweep.curves(id), 100),
  })),
});
