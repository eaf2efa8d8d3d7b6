/** The table of buckets as numbers to save: the rows and columns that are shown, all rows of them. */
import {
  BUCKET_MEASURES,
  type BucketMeasure,
} from '../../../shared/buckets/bucket-measures.ts';
import type { BucketRow } from '../../../shared/buckets/bucket-table.ts';
import { measureText } from '../../../shared/buckets/bucket-text.ts';
import { formatCount, formatPercent } from '../../../shared/words/units.ts';
import { valueCell, type TableTwin } from '../table-twin.ts';

/** @param places each bucket's place in the exchange, by its key */
export function bucketTwin(
  rows: readonly BucketRow[],
  measures: readonly BucketMeasure[],
  places: ReadonlyMap<string, number>,
): TableTwin {
  return {
    columns: [
      ...['place', 'bucket', 'tensors', 'elements', 'methods', 'collectives', 'share'],
      ...measures.map((measure) => {
        const { title, unit } = BUCKET_MEASURES[measure];
        return unit === 'ms' || unit === 'bytes' ? `${title}, ${unit}` : title;
      }),
    ],
    rows: rows.map((row) => ({
      key: row.key,
      cells: [
        valueCell(places.get(row.key), formatCount),
        row.name,
        valueCell(row.tensors, formatCount),
        valueCell(row.length, formatCount),
        row.methods.join(' '),
        row.collectives.join(' '),
        valueCell(row.share, formatPercent),
        ...measures.map((measure) =>
          valueCell(row.means[measure], (value) => measureText(measure, value)),
        ),
      ],
    })),
  };
}
