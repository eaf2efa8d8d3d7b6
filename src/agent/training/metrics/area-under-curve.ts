/**
 * AUC, the area under the ROC curve: the share of pairs of a positive and a negative sample
 * of which the positive one has the higher score, ties counted half (Hanley and McNeil, "The
 * meaning and use of the area under a receiver operating characteristic (ROC) curve", 1982).
 * The model gives the scores, as log-odds or any other numbers that grow with the chance of
 * the positive class, and 1 for positive samples, 0 for others.
 *
 * Ranks of scores cannot be added up over ranks of a run, but histograms can: one for each
 * class, of 1,024 bins of s ⁄ (4 + |s|), which puts scores without end between −1 and 1. A bin
 * is 1/128 wide where the score is 0, 1/17 at odds of 1 : 1000. Scores of one bin count as
 * ties, so the area is off by half the share of pairs that fall into one bin at most; where
 * the scores of a bin are spread alike in both classes, by nothing.
 */
import type { Metric } from './metric.ts';

export const BINS = 1024;
/** The score around which half of the bins are concentrated. */
const MIDDLE = 4;

export const areaUnderCurve: Metric = {
  id: 'auc',
  title: 'AUC',
  format: 'number',
  better: 'higher',
  sums: 2,
  tally: {
    length: 2 * BINS,
    of({ lax, nn, numpy }, [scores, positives]) {
      const score = lax.stopGradient(scores!);
      // NaN where the score is infinite or NaN, and so is all that comes of it. (A constant
      // NaN in what jax-js 0.1.25 makes of this for WebGPU never ends.)
      const fault = score.ref.sub(score.ref);
      const place = score.ref.div(numpy.abs(score).add(MIDDLE));
      const bin = place.add(1).mul(BINS / 2);
      const whole = numpy.clip(bin.astype(numpy.int32), 0, BINS - 1);
      const which = whole.add(positives!.astype(numpy.int32).mul(BINS));
      return nn.oneHot(which, 2 * BINS).add(fault.reshape([-1, 1]));
    },
  },
  value({ sums }) {
    let below = 0;
    let ordered = 0;
    let positives = 0;
    for (let bin = 0; bin < BINS; bin++) {
      const [negative, positive] = [sums[bin]!, sums[BINS + bin]!];
      ordered += positive * (below + negative / 2);
      below += negative;
      positives += positive;
    }
    return positives === 0 || below === 0 ? undefined : ordered / (positives * below);
  },
};
