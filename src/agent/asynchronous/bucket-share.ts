/**
 * The part of a bucket that belongs to a server. A server has one range of the flat weights; a
 * bucket's runs ascend there, so its share is one range of the bucket.
 */
import type { ElementRange } from '../collectives/partition.ts';
import type { Bucket } from '../plan/buckets.ts';

/** A contiguous piece of the share, in both places. */
export interface SharePiece {
  /** First element, from the start of the share. */
  readonly start: number;
  /** First element, from the start of the server's range. */
  readonly at: number;
  readonly length: number;
}

export interface BucketShare {
  /** First element, from the start of the bucket. */
  readonly start: number;
  readonly length: number;
  readonly pieces: readonly SharePiece[];
}

/** @param range of the server, in the flat weights */
export function shareOf(
  { runs }: Pick<Bucket, 'runs'>,
  range: ElementRange,
): BucketShare {
  const pieces: SharePiece[] = [];
  let start: number | undefined;
  let length = 0;
  for (const run of runs) {
    const first = Math.max(run.flat, range.start);
    const end = Math.min(run.flat + run.length, range.start + range.length);
    if (end <= first) continue;
    start ??= run.start + first - run.flat;
    pieces.push({ start: length, at: first - range.start, length: end - first });
    length += end - first;
  }
  return { start: start ?? 0, length, pieces };
}
