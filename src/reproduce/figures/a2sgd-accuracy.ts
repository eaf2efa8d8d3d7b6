/**
 * Accuracy while a classifier trains on eight ranks, by method: the classifiers of A2SGD’s
 * Figure 3 as figures. Source: A2SGD, section 4.2.
 */
import { formatPercent } from '../../shared/words/units.ts';
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Case, Figure } from '../figure.ts';
import { doneOf, replicaCurve, required } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { twoDecimals } from '../two-decimals.ts';
import { accuracyChart } from './accuracy-chart.ts';
import {
  A2SGD_METHODS,
  closerThanOthers,
  DENSE,
  ownMetric,
  READINGS_RULE,
  type Reading,
} from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

/** The claim of section 4.2 for each of its classifiers. */
export const CLOSEST =
  'Within the same number of epochs A2SGD comes closest to the accuracy of dense SGD, and ' +
  'closer than Top-K, Gaussian-K and QSGD.';

/** Table 1's rate is for 128 images in a step; linear scaling makes it larger as there are more. */
export const scaledRate = (rate: number, images: number): number =>
  (rate * images) / 128;

interface Training {
  readonly workload: Readonly<Record<string, unknown>>;
  readonly lr: number;
  readonly warmupIterations: number;
  readonly iterations: number;
  readonly evaluateEvery: number;
}

/** @param ratio the share of entries that top-k and Gaussian-k send, if not the paper’s */
export const casesOf = (
  { lr, warmupIterations, ...training }: Training,
  ratio?: number,
): readonly Case[] =>
  A2SGD_METHODS.map(({ id, name, exchange }) => ({
    id,
    label: name,
    spec: {
      world: { ranks: 8 },
      optimizer: {
        kind: 'sgd',
        lr,
        momentum: 0,
        schedule: 'polynomial',
        warmupIterations,
      },
      exchange:
        ratio !== undefined && 'ratio' in exchange ? { ...exchange, ratio } : exchange,
      ...training,
    },
  }));

/** The parts in which such figures differ. */
type Own = Pick<
  Figure,
  | 'id'
  | 'number'
  | 'title'
  | 'claim'
  | 'settings'
  | 'history'
  | 'differences'
  | 'cases'
  | 'full'
> &
  Partial<Pick<Figure, 'seeds'>>;

/** The smallest difference of accuracies that counts, in the rule's words, too. */
interface Closer {
  readonly least: number;
  readonly text: string;
}

export const accuracyFigure = (own: Own, closer: Closer): Figure => ({
  // Not those by which the settings were examined before.
  seeds: [11, 12, 13, 14, 15],
  ...own,
  paper: A2SGD,
  rule:
    'The distance of a method is the accuracy of dense SGD with the same seed minus ' +
    'its own, both on the test set at the end. A2SGD’s distance is smaller ' +
    `than that of each other method, by ${closer.text}. ${READINGS_RULE}`,
  measure: (records) => ({
    values: {
      accuracy: required(doneOf(records).metric, 'accuracy at its end'),
      replicas: required(ownMetric(records), 'accuracy of its replicas'),
    },
    curve: replicaCurve(records),
  }),
  // Ten classes.
  guess: () => ({ accuracy: 0.1, replicas: 0.1 }),
  judge: (sweep) => ({
    parts: closerThanOthers((id, by) => distances(sweep, id, by), closer.least),
    ours: A2SGD_METHODS.map(
      ({ id, name }) => `${name} ${formatPercent(sweep.mean(id, 'replicas'))}`,
    ).join(', '),
  }),
  chart: (sweep) => accuracyChart(sweep, A2SGD_METHODS),
  table: (sweep) => ({
    columns: [
      'method',
      'final accuracy',
      ...EXTREMES,
      'of averaged weights',
      'behind dense, points',
    ],
    rows: A2SGD_METHODS.map(({ id, name }) => {
      const values = sweep.values(id, 'replicas');
      const behind =
        100 * (sweep.mean(DENSE.id, 'replicas') - sweep.mean(id, 'replicas'));
      return [
        name,
        ...withExtremes(values, formatPercent),
        formatPercent(sweep.mean(id, 'accuracy')),
        id === DENSE.id ? '–' : twoDecimals(behind),
      ];
    }),
  }),
});

/** Distance behind dense SGD, by seed. */
function distances(sweep: Sweep, id: string, by: Reading): readonly number[] {
  const measure = by === 'averaged' ? 'accuracy' : by;
  const dense = sweep.values(DENSE.id, measure);
  return sweep.values(id, measure).map((value, index) => dense[index]! - value);
}
