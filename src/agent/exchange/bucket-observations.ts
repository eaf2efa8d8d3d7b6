/** Sizes of what single buckets sent and kept, as a spec asks for them (`inspectEvery`). */
import {
  residualOf,
  type ExchangeStatistics,
  type ThresholdState,
} from '../methods/method.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { Residual } from '../sites/residual-memory.ts';

/** Sizes of what a bucket sent and kept in an exchange, on this rank. */
export interface BucketObservation {
  readonly tensors: readonly string[];
  readonly method: string;
  readonly length: number;
  /** Bytes of the payload. */
  readonly payload: number;
  readonly nnzLocal?: number | undefined;
  readonly nnzReduced?: number | undefined;
  readonly residualNorm?: number | undefined;
  readonly thresholds?: readonly ThresholdState[] | undefined;
}

/** A bucket's last exchange. */
export interface BucketExchanged {
  readonly bucket: Bucket;
  readonly payload: number;
  readonly statistics: ExchangeStatistics;
}

/** Observations by bucket. Costs a pass over the residual. */
export async function observeBuckets(
  exchanged: readonly BucketExchanged[],
  residual: Pick<Residual, 'squaredNorm'>,
): Promise<readonly BucketObservation[]> {
  const observations: BucketObservation[] = [];
  for (const { bucket, payload, statistics } of exchanged) {
    const { length, policy, runs, tensors } = bucket;
    const { nnzLocal, nnzReduced, thresholds } = statistics;
    const kept =
      residualOf(policy.method, policy.parameters) === 'none'
        ? undefined
        : await residual.squaredNorm(
            runs.map((run) => ({ start: run.flat, length: run.length })),
          );
    observations.push({
      tensors: tensors.map(({ name }) => name),
      method: policy.method.id,
      length,
      payload,
      nnzLocal,
      nnzReduced,
      residualNorm: kept === undefined ? undefined : Math.sqrt(kept),
      thresholds: thresholds?.(),
    });
  }
  return observations;
}
