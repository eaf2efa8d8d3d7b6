/**
 * The cheapest δ by measured costs: the share of N elements at which a stream turns dense.
 *
 * Two streams of N elements with x·N entries together are merged, and the result is sent
 * once. By the bound of SparCML it has x·N entries, since ranks know no other number before
 * they merge. With c = 4 bytes per index and isize per value, the two forms take
 *
 *     sparse: x·N·merge + (c + isize)·x·N·β
 *     dense:  N·γ + x·N·scatter + isize·N·β
 *
 * where γ clears an element, as in `mergedSeconds` of the collectives. The sparse form's
 * time grows faster with x, so the forms cross once, and each is best on its side:
 *
 *     δ/N = (γ + isize·β) / (merge − scatter + (c + isize)·β)
 *
 * On a slow link it tends to isize/(c + isize), the share by bytes, which is also the most:
 * beyond it a stream would be longer than its elements.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.1, which says that in practice δ
 * should be smaller than by bytes; the formula is ours.
 */
import {
  betweenNodes,
  byteSeconds,
  mergeSeconds,
  scatterSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';

/** Bytes of an index. */
const INDEX_BYTES = 4;

/** δ/N where both forms take as many bytes. */
export const deltaByBytes = (valueBytes: number): number =>
  valueBytes / (INDEX_BYTES + valueBytes);

/**
 * δ/N in (0, isize/(4 + isize)]: where both forms of a merged stream take as many seconds.
 * @param length N, elements: β depends on the size of messages
 * @param valueBytes isize
 * @param spread whether the ranks are on several nodes: then their slower links count
 */
export function bestDelta(
  network: NetworkCost,
  length: number,
  valueBytes: number,
  spread: boolean,
): number {
  const within = byteSeconds(network, valueBytes * length);
  const beta = spread ? Math.max(within, betweenNodes(network).beta) : within;
  const most = deltaByBytes(valueBytes);
  const slope =
    mergeSeconds(network) - scatterSeconds(network) + (INDEX_BYTES + valueBytes) * beta;
  // Where a merge is that fast, only bytes count.
  if (slope <= 0) return most;
  return Math.min(most, (network.gamma + valueBytes * beta) / slope);
}
