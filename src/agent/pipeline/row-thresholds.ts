/**
 * The size of activations: each row's k-th largest magnitude, which is the threshold τ that
 * passes k units, averaged over rows. Cost: a sort of each row. Source: "Training recommender
 * systems at scale" (Gupta et al., 2021), section 2.2, figure 5.
 */
import { MEASURED_SPARSITIES, valuesSent } from '../../shared/plan/activation-plan.ts';
import type { MatrixShape, MeanThreshold } from './stage-setting.ts';

/**
 * Computes mean thresholds, always for the same sparsities, so that runs can be compared. Units of a skip connection,
 * which always pass, do not count.
 * @param values row-major, finite; at least one row
 */
export function meanThresholds(
  values: Float32Array,
  { skip = 0, width }: Pick<MatrixShape, 'width' | 'skip'>,
): readonly MeanThreshold[] {
  const rows = values.length / width;
  const units = width - skip;
  const sums = MEASURED_SPARSITIES.map(() => 0);
  for (let row = 0; row < rows; row++) {
    const ascending = values
      .subarray(row * width, row * width + units)
      .map(Math.abs)
      .sort();
    for (const [i, sparsity] of MEASURED_SPARSITIES.entries()) {
      sums[i]! += ascending[units - valuesSent(units, sparsity)]!;
    }
  }
  return MEASURED_SPARSITIES.map((sparsity, i) => ({
    sparsity,
    mean: sums[i]! / rows,
  }));
}
