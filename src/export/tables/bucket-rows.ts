/**
 * The table of buckets: a row for each bucket of a rank's interval. It has the sums as they were
 * recorded, and the interval's means as pages and commands show them.
 */
import {
  BUCKET_MEASURE_IDS,
  BUCKET_MEASURES,
  type BucketMeasure,
} from '../../shared/buckets/bucket-measures.ts';
import { BucketTotals } from '../../shared/buckets/bucket-totals.ts';
import {
  BUCKET_PHASES,
  type BucketSum,
  type BucketSumsRecord,
} from '../../shared/records/bucket-sums.ts';
import type { BucketValues } from '../../shared/buckets/bucket-measures.ts';
import { columnName } from './column-name.ts';
import type { Column } from '../../shared/records/table-column.ts';
import type { ExportTable } from './export-table.ts';
import { measurePages } from './measure-pages.ts';

interface BucketRow {
  readonly record: BucketSumsRecord;
  /** The bucket's place in the exchange. */
  readonly place: number;
  readonly sum: BucketSum;
  /** Means over the exchanges of the interval. */
  readonly means: BucketValues;
}

const COLUMNS: readonly Column<BucketRow>[] = [
  { name: 'from_iteration', kind: 'whole', cell: ({ record }) => record.from },
  { name: 'to_iteration', kind: 'whole', cell: ({ record }) => record.to },
  { name: 'rank', kind: 'whole', cell: ({ record }) => record.rank },
  { name: 'place', kind: 'whole', cell: ({ place }) => place },
  { name: 'bucket', kind: 'text', cell: ({ sum }) => sum.name },
  { name: 'tensors', kind: 'whole', cell: ({ sum }) => sum.tensors },
  { name: 'length', kind: 'whole', cell: ({ sum }) => sum.length },
  { name: 'method', kind: 'text', cell: ({ sum }) => sum.method },
  { name: 'collective', kind: 'text', cell: ({ sum }) => sum.collective },
  { name: 'at_ms', kind: 'number', cell: ({ record }) => record.at },
  {
    name: 'exchanges',
    kind: 'whole',
    cell: ({ record, sum }) => sum.ownExchanges ?? record.exchanges,
  },
  { name: 'agreement_ms', kind: 'number', cell: ({ record }) => record.agreement ?? 0 },
  ...([...BUCKET_PHASES, 'hidden', 'begin', 'end'] as const).map(
    (part): Column<BucketRow> => ({
      name: `sum_${part}_ms`,
      kind: 'number',
      cell: ({ sum }) => sum[part] ?? 0,
    }),
  ),
  { name: 'sum_payload_bytes', kind: 'whole', cell: ({ sum }) => sum.payload },
  { name: 'sum_sent_bytes', kind: 'whole', cell: ({ sum }) => sum.sent },
  { name: 'sum_nnz_local', kind: 'whole', cell: ({ sum }) => sum.nnzLocal },
  { name: 'sum_nnz_reduced', kind: 'whole', cell: ({ sum }) => sum.nnzReduced },
  ...BUCKET_MEASURE_IDS.map(meanColumn),
  {
    name: 'selections',
    kind: 'whole',
    cell: ({ record, sum }) =>
      sum.nnzLocal === undefined
        ? undefined
        : (sum.selections ?? sum.ownExchanges ?? record.exchanges),
  },
  {
    name: 'sum_nnz_counted',
    kind: 'whole',
    cell: ({ sum }) =>
      sum.nnzReduced === undefined ? undefined : (sum.nnzCounted ?? sum.nnzLocal),
  },
];

function meanColumn(measure: BucketMeasure): Column<BucketRow> {
  return {
    name: columnName(measure, BUCKET_MEASURES[measure].unit),
    kind: 'number',
    cell: ({ means }) => means[measure],
  };
}

const rowsOf = (record: BucketSumsRecord): readonly BucketRow[] =>
  record.buckets.map((sum, place) => {
    const totals = new BucketTotals();
    totals.add(sum, record.exchanges, 1);
    return { record, place, sum, means: totals.means(BUCKET_MEASURE_IDS) };
  });

/** The table of buckets, in the order in which their records came. */
export const bucketTable: ExportTable<BucketRow> = {
  columns: () => COLUMNS,
  pages: measurePages('buckets', rowsOf),
};
