/** What an exchange observed, over all its buckets. */
import type { ExchangeStatistics } from '../compression/method.ts';

/** Sums over buckets; a quantity is absent unless every bucket observed it. */
export function addStatistics(all: readonly ExchangeStatistics[]): ExchangeStatistics {
  return {
    nnzLocal: total('nnzLocal'),
    nnzReduced: total('nnzReduced'),
    thresholdRefreshes: total('thresholdRefreshes'),
  };

  function total(key: keyof ExchangeStatistics): number | undefined {
    let sum = 0;
    for (const statistics of all) {
      const value = statistics[key];
      if (value === undefined) return undefined;
      sum += value;
    }
    return sum;
  }
}
