/** A row of models of ScaleCom's Table 2 as a figure: how they are run, judged and shown. */
import type { Figure } from '../figure.ts';
import { SCALECOM } from './papers.ts';
import { lossCurves } from './scalecom-curves.ts';
import type { TrainedModel } from './scalecom-models.ts';
import {
  accuracyTable,
  BASELINE,
  casesOf,
  guessOf,
  measureMetric,
  oursText,
  scaleCom,
  withoutLoss,
} from './scalecom-training.ts';

/** Workers of the table’s runs. */
const WORKERS = 2;
/** The table has no filter. */
const COMPRESSED = scaleCom('scalecom', 'ScaleCom', 1);
const VARIANTS = [BASELINE, COMPRESSED];

/** The parts in which such figures differ. */
type Own = Pick<
  Figure,
  'id' | 'number' | 'title' | 'claim' | 'rule' | 'settings' | 'history' | 'differences'
>;

/**
 * The figure that trains these models uncompressed and with ScaleCom, without its filter.
 * @param seeds not those by which the settings were examined
 */
export const usualBatch = (
  models: readonly TrainedModel[],
  seeds: readonly number[],
  own: Own,
): Figure => ({
  ...own,
  paper: SCALECOM,
  seeds,
  cases: casesOf(models, VARIANTS, WORKERS),
  measure: measureMetric,
  guess: guessOf(models),
  judge: (sweep) => ({
    parts: [withoutLoss(sweep, models, COMPRESSED)],
    ours: oursText(sweep, models, VARIANTS),
  }),
  chart: (sweep) => lossCurves(sweep, models, [COMPRESSED]),
  table: (sweep) => accuracyTable(sweep, models, VARIANTS),
});
