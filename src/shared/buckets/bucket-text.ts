/** Buckets in words, the same on the page and on the command line. */
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatQuantity,
  formatWholePercent,
} from '../words/units.ts';
import {
  BUCKET_MEASURES,
  type BucketMeasure,
  type MeasureUnit,
} from './bucket-measures.ts';
import type { BucketRow, BucketTable } from './bucket-table.ts';

const FORMATS: Readonly<Record<MeasureUnit, (value: number | undefined) => string>> = {
  ms: formatDuration,
  bytes: formatBytes,
  share: formatPercent,
  number: formatQuantity,
};

/** A value of a measure with its unit; a dash if it was not observed. */
export const measureText = (
  measure: BucketMeasure,
  value: number | null | undefined,
): string => FORMATS[BUCKET_MEASURES[measure].unit](value ?? undefined);

/** `layer1.weight … layer3.bias, 6 tensors, 12,544 elements` */
export function bucketTitle({ length, name, tensors }: BucketRow): string {
  const of = tensors === 1 ? '' : `${formatCount(tensors)} tensors, `;
  return `${name}, ${of}${formatCount(length)} elements`;
}

/** The bucket that costs most, and what its time is spent on; undefined if there is none. */
function costliest({ buckets }: BucketTable): BucketRow | undefined {
  const [most] = buckets.toSorted((a, b) => b.share - a.share);
  return most;
}

/** A sentence on the time that no bucket has; undefined if there is none. */
export function describeAgreement({ agreement = 0 }: BucketTable): string | undefined {
  return agreement === 0
    ? undefined
    : `${formatDuration(agreement)} more belong to no bucket: ranks wait for each other there.`;
}

/** A sentence that names the costly bucket. */
export function describeBuckets(table: BucketTable): string {
  const bucket = costliest(table);
  if (bucket === undefined) return 'Nothing recorded of buckets in these iterations.';
  const { end = 0, hidden = 0, time = 0 } = bucket.means;
  const count = table.buckets.length;
  if (time === 0) {
    const under = hidden > 0 ? ': all communication is hidden under computing' : '';
    return `No bucket costs the step time${under}.`;
  }
  const [part, ms] = largestPart(bucket);
  const what = `${formatDuration(time)} of an iteration, ${formatDuration(ms)} of it ${part}`;
  const hides = hidden > 0 ? `; ${formatDuration(hidden)} more are hidden` : '';
  if (count === 1) return `The one bucket, ${bucket.name}, takes ${what}${hides}.`;
  const last = table.buckets.every(({ means }) => (means.end ?? 0) <= end);
  const ends = last ? ', and ends last' : '';
  return (
    `${bucket.name} costs most of ${formatCount(count)} buckets: ` +
    `${formatWholePercent(bucket.share)} of their time, ${what}${hides}${ends}.`
  );
}

const PARTS = ['compress', 'transfer', 'wait', 'combine'] as const;
const PART_TEXTS: Readonly<Record<(typeof PARTS)[number], string>> = {
  compress: 'compressing',
  transfer: 'sending and receiving',
  wait: 'waiting',
  combine: 'summing and decompressing',
};

function largestPart({ means }: BucketRow): readonly [string, number] {
  const [part] = PARTS.toSorted((a, b) => (means[b] ?? 0) - (means[a] ?? 0));
  return [PART_TEXTS[part!], means[part!] ?? 0];
}
