/** `gradwire runs buckets`: what each bucket of a run costs and keeps back. */
import { Option, type Command } from 'commander';
import {
  BUCKET_MEASURE_IDS,
  BUCKET_MEASURES,
  type BucketMeasure,
} from '../../shared/buckets/bucket-measures.ts';
import {
  COSTLY_FIRST,
  ordered,
  type BucketKey,
} from '../../shared/buckets/bucket-order.ts';
import type { BucketTable } from '../../shared/buckets/bucket-table.ts';
import {
  describeAgreement,
  describeBuckets,
  measureText,
} from '../../shared/buckets/bucket-text.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { formatCount, formatPercent } from '../../shared/words/units.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withHistory } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { tableWidth } from '../text/terminal.ts';
import { textTable } from '../text/text-table.ts';
import { wholeNumber } from '../text/whole-number.ts';

interface BucketFlags {
  readonly from?: number;
  readonly to?: number;
  readonly rank?: number;
  readonly sort: BucketKey;
  readonly json: boolean;
}

/** The columns of the table, beside name and share. */
const COLUMNS: readonly BucketMeasure[] = [
  'time',
  'wait',
  'transfer',
  'compress',
  'combine',
  'hidden',
  'sent',
  'density',
  'residualNorm',
  'error',
];

export function addRunsBucketsCommand(runs: Command): void {
  runs
    .command('buckets')
    .description(
      'say what each bucket costs: time, bytes, density, residual and error, most costly first',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option('--from <iteration>', 'the first iteration; default: 0', wholeNumber)
    .option(
      '--to <iteration>',
      'the iteration after the last; default: all',
      wholeNumber,
    )
    .option('--rank <rank>', 'one rank; default: the mean over all', wholeNumber)
    .addOption(
      new Option('--sort <key>', 'the order; "place" is that of the exchange')
        .choices(['share', 'place', 'name', 'length', ...BUCKET_MEASURE_IDS])
        .default(COSTLY_FIRST.by),
    )
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: BucketFlags) => {
      await withHistory(async ({ coordinator, store }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        const { from = 0, rank, sort, to = Number.MAX_SAFE_INTEGER } = flags;
        const { ranks } = store.summary(id);
        if (rank !== undefined && rank >= ranks) {
          throw inputError('RANK_UNKNOWN', `run ${id} has ranks 0 to ${ranks - 1}`, {
            place: '--rank',
          });
        }
        const query = { from, to, rank, columns: 0, measure: 'time' } as const;
        const table = await store.buckets.table(id, query);
        const isDescending = sort !== 'place' && sort !== 'name';
        const buckets = ordered(table.buckets, { by: sort, isDescending });
        answer(
          flags.json,
          {
            run: id,
            ...table.known,
            ...(table.agreement === undefined ? {} : { agreement: table.agreement }),
            buckets: buckets.map(jsonOf),
          },
          `${textOf({ ...table, buckets })}\n`,
        );
      });
    });
}

const jsonOf = ({
  cells: _,
  key: __,
  means,
  ...row
}: BucketTable['buckets'][number]) => ({
  ...row,
  ...means,
});

function textOf(table: BucketTable): string {
  const { buckets, known } = table;
  if (known === undefined) return describeBuckets(table);
  const shown = COLUMNS.filter((measure) =>
    buckets.some(({ means }) => means[measure] !== undefined),
  );
  const heading = [
    'bucket',
    'method',
    'elements',
    'share',
    ...shown.map((measure) => BUCKET_MEASURES[measure].short),
  ];
  const rows = buckets.map(({ length, means, methods, name, share }) => [
    name,
    methods.join(', '),
    formatCount(length),
    formatPercent(share),
    ...shown.map((measure) => measureText(measure, means[measure])),
  ]);
  const align = heading.map((_, index) =>
    index < 2 ? ('left' as const) : ('right' as const),
  );
  const between = describeAgreement(table);
  const width = tableWidth(false);
  return (
    `iterations ${known.from} to ${known.to - 1}: ${describeBuckets(table)}` +
    `${between === undefined ? '' : ` ${between}`}\n\n` +
    textTable([heading, ...rows], align, width)
  );
}
