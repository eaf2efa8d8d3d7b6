/**
 * AUC, the area under the ROC curve: the share of pairs of a positive and a negative sample
 * of which the positive one has the higher score, ties counted half (Hanley and McNeil, "The
 * meaning and use of the area under a receiver operating characteristic (ROC) curve", 1982).
 * The model gives the scores, as log-odds or any other numbers that grow with the chance of
 * the positive class, and 1 for positive samples, 0 for others.
 *
 * It is exact, so only the order of the scores matters (docs/decisions/073-exact-auc.md). Infinite
 * scores have their place in the order; NaN has none, and neither has the area then.
 */
import type { PairMetric } from './metric.ts';

export const areaUnderCurve: PairMetric = {
  id: 'auc',
  title: 'AUC',
  format: 'number',
  better: 'higher',
  sums: 2,
  pairs: true,
  value({ sums: [ordered, positives, negatives] }) {
    const pairs = positives! * negatives!;
    if (Number.isNaN(ordered)) return NaN;
    return pairs === 0 ? undefined : ordered! / pairs;
  },
};
