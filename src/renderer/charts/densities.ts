/** Densities of bins: what a rank sent of its gradient, and what of it all ranks' sum had. */
import { meanOf, type Bin } from '../state/history/bin.ts';
import { curve, type Point } from './curves.ts';

export const localDensity = (bin: Bin): number | undefined => meanOf(bin, 'density');

export function reducedDensity(bin: Bin): number | undefined {
  const nonZeros = meanOf(bin, 'nnzReduced');
  const dense = meanOf(bin, 'dense');
  return nonZeros === undefined || dense === undefined || dense === 0
    ? undefined
    : nonZeros / (dense / 4);
}

/**
 * A curve with a gap (NaN) where something was sent that has no density. Where nothing was sent, as between the
 * exchanges of a plan that has one now and then, it goes on.
 */
export const densityCurve = (
  bins: readonly Bin[],
  density: typeof localDensity,
): Point[] =>
  curve(
    bins,
    (bin) => density(bin) ?? (meanOf(bin, 'wireSent') === 0 ? undefined : NaN),
  );
