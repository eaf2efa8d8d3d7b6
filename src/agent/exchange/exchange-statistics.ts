/** Observations of an exchange over all its buckets. */
import type { ExchangeStatistics, Similarity } from '../methods/method.ts';

export interface BucketStatistics {
  readonly statistics: ExchangeStatistics;
  /** Tensors in the bucket. */
  readonly tensors: readonly { readonly name: string }[];
  /** Elements of a bucket that travels whole: all are sent, none selected. */
  readonly whole?: number | undefined;
}

/** Statistics of all buckets together. */
export interface ExchangeSummary extends Omit<
  ExchangeStatistics,
  'similarity' | 'thresholds'
> {
  /** Similarities of the buckets that observed it; default: none. */
  readonly similarities?: readonly BucketSimilarity[] | undefined;
}

export interface BucketSimilarity extends Similarity {
  readonly tensors: readonly string[];
}

/**
 * Sums over buckets. A number of entries is present only if every bucket that does not
 * travel whole observed it, and at least one did.
 */
export function addStatistics(all: readonly BucketStatistics[]): ExchangeSummary {
  return {
    nnzLocal: entries('nnzLocal'),
    nnzReduced: entries('nnzReduced'),
    thresholdRefreshes: refreshes(),
    ...similarities(),
  };

  function similarities(): Pick<ExchangeSummary, 'similarities'> {
    const observed = all.flatMap(({ statistics: { similarity }, tensors }) =>
      similarity === undefined
        ? []
        : [{ tensors: tensors.map(({ name }) => name), ...similarity }],
    );
    return observed.length === 0 ? {} : { similarities: observed };
  }

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
