/** The order of buckets in a table. */
import type { BucketMeasure } from './bucket-measures.ts';
import type { BucketRow } from './bucket-table.ts';

/** A measure, the share of the time, the elements, the name, or the order of the exchange. */
export type BucketKey = BucketMeasure | 'length' | 'name' | 'place' | 'share';

export interface BucketOrder {
  readonly by: BucketKey;
  readonly isDescending: boolean;
}

/** Most costly first. */
export const COSTLY_FIRST: BucketOrder = { by: 'share', isDescending: true };

/** Rows in an order; those without a value come last, equal ones in the order of the exchange. */
export function ordered(
  rows: readonly BucketRow[],
  { by, isDescending }: BucketOrder,
): readonly BucketRow[] {
  const sign = isDescending ? -1 : 1;
  if (by === 'place') return isDescending ? rows.toReversed() : rows;
  if (by === 'name') {
    return rows.toSorted((a, b) => sign * a.name.localeCompare(b.name, 'en'));
  }
  const valueOf = (row: BucketRow): number | undefined =>
    by === 'share' ? row.share : by === 'length' ? row.length : row.means[by];
  return rows.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === undefined || other === undefined) {
      return Number(one === undefined) - Number(other === undefined);
    }
    return sign * (one - other);
  });
}
