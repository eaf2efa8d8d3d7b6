/**
 * The size of activations: each row's k-th largest magnitude, which is the threshold τ that
 * passes k units, averaged over rows. Cost: a sort of each row. Source: "Training recommender
 * systems at scale" (Gupta et al., 2021), section 2.2, figure 5.
 */
import { MEASURED_SPARSITIES, valuesSent } from '../../shared/plan/activation-plan.ts';
import type { MeanThreshold } from './stage-setting.ts';

/**
 * Computes mean thresholds, always for the same sparsities, so that runs can be compared.
 * @param values rows of `width`, row-major, finite; at least one row
 */
export function meanThresholds(
  values: Float32Array,
  width: number,
): readonly MeanThreshold[] {
  const rows = values.length / width;
  const sums = MEASURED_SPARSITIES.map(() => 0);
  for (let row = 0; row < rows; row++) {
    const ascending = values
      .subarray(row * width, (row + 1) * width)
      .map(Math.abs)
      .sort();
    for (const [i, sparsity] of MEASURED_SPARSITIES.entries()) {
      sums[i]! += ascending[width - valuesSent(width, sparsity)]!;
    }
  }
  return MEASURED_SPARSITIES.map((sparsity, i) => ({
    sparsity,
    mean: sums[i]! / rows,
  }));
}
