/** What an exchange observed, over all its buckets. */
import type { ExchangeStatistics } from '../compression/method.ts';

export interface BucketStatistics {
  readonly statistics: ExchangeStatistics;
  /** Elements of a bucket that travels as it is: all of them are sent, none selected. */
  readonly whole?: number | undefined;
}

/**
 * Sums over buckets. A number of entries is absent unless every bucket observed it, or
 * travels whole beside one that did.
 */
export function addStatistics(all: readonly BucketStatistics[]): ExchangeStatistics {
  return {
    nnzLocal: entries('nnzLocal'),
    nnzReduced: entries('nnzReduced'),
    thresholdRefreshes: refreshes(),
  };

  function entries(key: 'nnzLocal' | 'nnzReduced'): number | undefined {
    if (all.every(({ statistics }) => statistics[key] === undefined)) return undefined;
    let sum = 0;
    for (const { statistics, whole } of all) {
      const value = statistics[key] ?? whole;
      if (value === undefined) return undefined;
      sum += value;
    }
    return sum;
  }

  function refreshes(): number | undefined {
    const counts = all
      .map(({ statistics }) => statistics.thresholdRefreshes)
      .filter((count) => count !== undefined);
    return counts.length === 0
      ? undefined
      : counts.reduce((sum, count) => sum + count, 0);
  }
}
