/**
 * What `ok-topk` must give, the slow way: of the sum over ranks the entries that reach a
 * threshold, which is found anew every 32 exchanges or when it keeps less than k/2 or
 * more than 2k; where one that was found just now keeps more than 2k, the first k by
 * magnitude and index. Sums must be exact in any order.
 */
import { sumOf } from './run-collective.ts';

export class TopSumOracle {
  #age = 0;
  #threshold = 0;

  /** @param inputs whose zeros are absent entries */
  next(inputs: readonly Float32Array[]): Float32Array {
    const sum = sumOf(inputs);
    const sent = inputs.reduce((all, input) => all + nonZero(input).length, 0);
    const k = Math.ceil(sent / inputs.length);
    const magnitudes = nonZero(sum).map(Math.abs).sort();
    const keeps = magnitudes.filter((value) => value >= this.#threshold).length;
    const few = 2 * keeps < k && keeps < magnitudes.length;
    if (this.#age++ % 32 === 0 || keeps > 2 * k || few) {
      this.#threshold = k === 0 ? 0 : (magnitudes.at(-k) ?? 0);
    }
    const reaching = [...sum.keys()].filter(
      (i) => sum[i] !== 0 && Math.abs(sum[i]!) >= this.#threshold,
    );
    const kept = new Set(
      reaching.length <= 2 * k
        ? reaching
        : reaching
            .sort((i, j) => Math.abs(sum[j]!) - Math.abs(sum[i]!) || i - j)
            .slice(0, k),
    );
    return sum.map((value, i) => (kept.has(i) ? value : 0));
  }
}

const nonZero = (values: Float32Array): Float32Array =>
  values.filter((value) => value !== 0);
