/** Clipping by the norm of a vector, wherever it is. */
import { normOf } from '../kernels/fixed-point.ts';
import { wait, type Steps } from './steps.ts';
import type { Work } from './work.ts';

/**
 * Scales x, which is finite, so that its norm is at most `limit`. The norm is that of
 * `fixedSums`: the same on every backend.
 * @returns the factor: 1 if x was no longer
 */
export function* clipNorm<V>(
  work: Pick<Work<V>, 'fixedSums' | 'scale'>,
  x: V,
  limit: number,
): Steps<number> {
  const [sums] = yield* wait(work.fixedSums([x]));
  const norm = normOf(sums!);
  if (norm <= limit) return 1;
  const factor = limit / norm;
  work.scale(x, factor);
  return factor;
}
