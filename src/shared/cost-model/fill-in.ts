/**
 * E[K]: how many entries the union of several ranks' entries is expected to have.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.2: for k uniform indices of N per
 * rank, E[K] = N·(1 − (1 − k/N)^P).
 */
import { expm1, log1p } from '../numbers/portable-math.ts';

/**
 * @param length N
 * @param nnz k, entries per rank; more than N count as N
 * @param ranks P; need not be whole
 */
export function expectedUnion(length: number, nnz: number, ranks: number): number {
  if (length === 0) return 0;
  // By logarithms: 1 − (1 − d)^P loses every digit where d·P is small.
  return -length * expm1(ranks * log1p(-Math.min(1, nnz / length)));
}
