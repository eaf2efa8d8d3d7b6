/**
 * The chart of ScaleCom's trainings: how far each is behind uncompressed training while it goes on. Source:
 * ScaleCom, Figures 4 and 5, whose curves have a chart for each model.
 */
import { meanCurve, type Chart } from '../chart/chart.ts';
import type { CurvePoint } from '../figure.ts';
import type { Sweep } from '../sweep.ts';
import type { TrainedModel } from './scalecom-models.ts';
import { BASELINE, idOf, relativeLoss, type Variant } from './scalecom-training.ts';

/** @param variants all but the baseline; with the models at most six curves */
export const lossCurves = (
  sweep: Sweep,
  models: readonly TrainedModel[],
  variants: readonly Variant[],
): Chart => ({
  kind: 'lines',
  caption:
    'How much worse the measure on the test set is than that of uncompressed training with the same seed after as ' +
    'many iterations, in percent, over the second half; below 0 is better. (Just after the uncompressed first tenth it ' +
    'may be a hundred per cent.) Means over the seeds; bars span the lowest to the highest value.',
  x: { label: 'share of the iterations (%)', scale: 'linear' },
  y: { label: 'loss (%)', scale: 'linear' },
  series: models.flatMap((model) =>
    variants.map((variant) => ({
      name: variants.length === 1 ? model.id : `${model.id}, ${variant.name}`,
      points: meanCurve(behind(sweep, model, variant), 100),
    })),
  ),
  references: [...new Set(models.map(({ tolerance }) => tolerance))].map(
    (tolerance) => ({
      y: 100 * tolerance,
      label: `more at the end counts as a loss${ofWhich(models, tolerance)}`,
    }),
  ),
});

/** The models that a tolerance is of, where others have another one. */
function ofWhich(models: readonly TrainedModel[], tolerance: number): string {
  const those = models.filter((model) => model.tolerance === tolerance);
  return those.length === models.length
    ? ''
    : `: ${those.map(({ id }) => id).join(', ')}`;
}

/** The relative loss over the share of a training in percent, from its half on, by seed. */
function behind(
  sweep: Sweep,
  model: TrainedModel,
  { id }: Variant,
): readonly (readonly CurvePoint[])[] {
  const baselines = sweep.curves(idOf(model.id, BASELINE.id));
  return sweep.curves(idOf(model.id, id)).map((curve, seed) =>
    curve.flatMap(({ x, y }) => {
      const baseline = baselines[seed]?.find((point) => point.x === x)?.y;
      return baseline === undefined || x < model.iterations / 2
        ? []
        : [{ x: (100 * x) / model.iterations, y: relativeLoss(model, y, baseline) }];
    }),
  );
}
