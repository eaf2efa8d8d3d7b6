/** DCT's tables of test losses: each compressed training against the uncompressed one with the same seed. */
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { formatPercent, formatQuantity } from '../../shared/words/units.ts';
import { pointOf, type Chart } from '../chart/chart.ts';
import type { Figure, ResultTable } from '../figure.ts';
import { atMost, claim, exceeds, type Part } from '../part.ts';
import { evaluationsOf, iterationsOf, meanOver, required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { signedPercent } from '../two-decimals.ts';

/** The case of uncompressed training. */
export const BASELINE = 'baseline';

/** A row of one of these tables. */
export interface Compressed {
  readonly id: string;
  /** `2 workers at 75 %` */
  readonly name: string;
  /** The start of a sentence: `with 2 workers at 75 %`. */
  readonly at: string;
  /** The paper's test loss; absent if it gives none. */
  readonly theirs?: number;
  /** The label under its bars; default: the name. */
  readonly category?: string;
}

/** A row whose activations pass between workers, in part. */
export interface SplitRow<Workers extends number = number> extends Compressed {
  readonly workers: Workers;
  /** η */
  readonly percent: number;
}

/** The row of DCT-MP with this number of workers and share left out. */
export function splitRow<Workers extends number>(
  workers: Workers,
  percent: number,
  theirs: number,
): SplitRow<Workers> {
  const name = `${workers} workers at ${percent} %`;
  return {
    id: `mp${workers}-${percent}`,
    workers,
    percent,
    theirs,
    name,
    at: `with ${name}`,
    category: `${workers}: ${percent} %`,
  };
}

/** A table's uncompressed training, and what counts in it. */
interface LossReference {
  /** The paper's test loss. */
  readonly theirs: number;
  /** The measure that is compared. A ratio of losses depends on how hard the data is; one of perplexities does not. */
  readonly compared: 'test loss' | 'perplexity';
  /** The paper's loss of which the rise over that is the smallest that counts. */
  readonly rises: number;
  /** Nats in the unit of the paper's losses; default: 1. */
  readonly unit?: number;
  /** The loss of a network that guesses. */
  readonly guess: number;
  /** The metric beside the loss: its name, that of its value, and that of a network that guesses. */
  readonly metric: {
    readonly name: string;
    readonly value: string;
    readonly guess: number;
  };
}

/** The measure, the parts of a rule, the sentences, chart and table about losses. */
interface Losses {
  /** Loss and metric on the test set after the last iteration, and the training loss at the end. */
  readonly measureLoss: Figure['measure'];
  readonly guessLoss: NonNullable<Figure['guess']>;
  readonly losesNothing: (sweep: Sweep, row: Compressed) => Part;
  /** The same of the training loss. */
  readonly trainsAsWell: (sweep: Sweep, row: Compressed) => Part;
  /** @param than another row; default: uncompressed training */
  readonly losesMore: (sweep: Sweep, row: Compressed, than?: Compressed) => Part;
  /** The paper's losses, in the words in which its tables are quoted. */
  readonly quotedLosses: (rows: readonly Compressed[]) => string;
  readonly ourLosses: (sweep: Sweep, rows: readonly Compressed[]) => string;
  /** @param label of the axis that names the rows */
  readonly lossChart: (
    sweep: Sweep,
    rows: readonly Compressed[],
    label: string,
  ) => Chart;
  /** @param heading of the column of names */
  readonly lossTable: (
    sweep: Sweep,
    rows: readonly Compressed[],
    heading: string,
  ) => ResultTable;
}

export const lossesAgainst = ({
  compared,
  guess,
  metric,
  rises,
  theirs,
  unit = 1,
}: LossReference): Losses => {
  const rise = changeOf(compared, rises, theirs, unit);
  return {
    measureLoss(records) {
      const last = evaluationsOf(records).at(-1);
      return {
        values: {
          loss: required(last?.loss, 'loss on the test set at its end'),
          [metric.value]: required(
            last?.metric,
            `${metric.name} on the test set at its end`,
          ),
          training: trainingLoss(records),
        },
      };
    },

    guessLoss: () => ({ loss: guess, [metric.value]: metric.guess, training: guess }),

    losesNothing: (sweep, { at, id }) =>
      claim(
        `${at} the ${compared} is not above that of uncompressed training`,
        atMost(changes(sweep, id, { compared }), {
          trueAt: rise,
          format: formatPercent,
        }),
      ),

    trainsAsWell(sweep, { at, id }) {
      const [ours, reference] = [id, BASELINE].map((one) =>
        sweep.observed(one, 'training'),
      );
      const text = `${at} the training loss is not above that of uncompressed training`;
      // Earlier results do not have it.
      if (ours === undefined || reference === undefined) return claim(text);
      const found = ours.map((value, index) => value / reference[index]! - 1);
      return claim(text, atMost(found, { trueAt: rise, format: formatPercent }));
    },

    losesMore(sweep, { at, id }, than) {
      const found = changes(sweep, id, { compared, than: than?.id });
      return claim(
        `${at} it is above that ${than?.at ?? 'of uncompressed training'}`,
        exceeds(
          found,
          found.map(() => 0),
          rise,
          formatPercent,
        ),
      );
    },

    quotedLosses: (rows) =>
      `test loss: uncompressed ${theirs}, ` +
      rows
        .flatMap((row) =>
          row.theirs === undefined ? [] : [`${row.name} ${digits(row.theirs)}`],
        )
        .join(', '),

    ourLosses: (sweep, rows) =>
      [
        `test loss: uncompressed ${formatQuantity(sweep.mean(BASELINE, 'loss'))}`,
        ...rows.map(
          ({ id, name }) => `${name} ${formatQuantity(sweep.mean(id, 'loss'))}`,
        ),
      ].join(', '),

    lossChart: (sweep, rows, label) => ({
      kind: 'bars',
      caption:
        `Change of the ${compared} relative to uncompressed training with the same seed, ` +
        'in percent; above 0 is worse. Means over the seeds; bars span the lowest to the ' +
        'highest value.',
      x: {
        label,
        scale: 'linear',
        categories: rows.map(({ category, name }) => category ?? name),
      },
      y: { label: `change of the ${compared} (%)`, scale: 'linear' },
      series: [
        {
          name: 'here',
          points: rows.map(({ id }, index) =>
            pointOf(index, percents(sweep, id, compared)),
          ),
        },
        ...(rows.some(isStated)
          ? [
              {
                name: 'the paper',
                points: rows.flatMap((row, index) =>
                  row.theirs === undefined
                    ? []
                    : [
                        pointOf(index, [
                          100 * changeOf(compared, row.theirs, theirs, unit),
                        ]),
                      ],
                ),
              },
            ]
          : []),
      ],
    }),

    lossTable(sweep, rows, heading) {
      const stated = (text: string): readonly string[] =>
        rows.some(isStated) ? [text] : [];
      const row = (
        id: string,
        name: string,
        loss: number | undefined,
        change: string,
      ) => [
        name,
        ...stated(loss === undefined ? '–' : digits(loss)),
        formatQuantity(sweep.mean(id, 'loss')),
        change,
        formatQuantity(sweep.mean(id, metric.value)),
        formatQuantity(meanIfObserved(sweep, id)),
      ];
      return {
        columns: [
          heading,
          ...stated('test loss, paper'),
          'test loss, here',
          compared === 'test loss' ? 'change, here' : `change of the ${compared}, here`,
          `${metric.name}, here`,
          'training loss, here',
        ],
        rows: [
          row(BASELINE, 'nothing', theirs, '–'),
          ...rows.map(({ id, name, theirs: loss }) =>
            row(id, name, loss, signedPercent(mean(percents(sweep, id, compared)))),
          ),
        ],
      };
    },
  };
};

/** Iterations between those whose training loss is looked at: a long run has more than memory should hold. */
const LOOKED_AT = 5;
/** The share of a training, at its end, that they are from. */
const LAST = 1 / 5;

/** The records that `measureLoss` looks at. */
export const isLoss = (record: RunRecord): boolean =>
  record.type === 'evaluation' ||
  (record.type === 'iteration' && record.iteration % LOOKED_AT === 0);

/**
 * The mean loss in training over the last fifth of the iterations.
 * @throws GradwireError `MEASURE_MISSING`
 */
function trainingLoss(records: readonly RunRecord[]): number {
  const seen = iterationsOf(records.filter(isLoss)).flatMap(({ iteration, loss }) =>
    loss === undefined ? [] : [{ x: iteration, y: loss }],
  );
  const end = seen.reduce((most, { x }) => Math.max(most, x), 0);
  return meanOver(seen, (1 - LAST) * end, Infinity, 'loss in training');
}

function meanIfObserved(sweep: Sweep, id: string): number | undefined {
  const values = sweep.observed(id, 'training');
  return values === undefined ? undefined : mean(values);
}

/** The four digits that the paper gives. */
const digits = (loss: number): string => loss.toPrecision(4);

const isStated = ({ theirs }: Compressed): boolean => theirs !== undefined;

type Compared = LossReference['compared'];

/** @param unit nats in the unit of both losses */
const changeOf = (compared: Compared, loss: number, other: number, unit = 1): number =>
  compared === 'perplexity' ? Math.exp(unit * (loss - other)) - 1 : loss / other - 1;

/** Changes relative to another case with the same seed, by default to uncompressed training. */
function changes(
  sweep: Sweep,
  id: string,
  { compared, than = BASELINE }: { compared: Compared; than?: string | undefined },
): readonly number[] {
  const reference = sweep.values(than, 'loss');
  return sweep
    .values(id, 'loss')
    .map((value, index) => changeOf(compared, value, reference[index]!));
}

const percents = (sweep: Sweep, id: string, compared: Compared): readonly number[] =>
  changes(sweep, id, { compared }).map((change) => 100 * change);
