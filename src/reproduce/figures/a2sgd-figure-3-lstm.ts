/**
 * Perplexity while an LSTM trains on eight ranks, by method. Source: A2SGD, section 4.2; the last of
 * the four models of its Figure 3.
 */
import { formatPercent, formatQuantity } from '../../shared/words/units.ts';
import { meanCurve } from '../chart/chart.ts';
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Case, Figure } from '../figure.ts';
import { doneOf, replicaCurve, required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import {
  A2SGD_METHODS,
  A2SGD_QSGD_SETTING,
  A2SGD_SHARE_SETTING,
  AVERAGED_WEIGHTS,
  closerThanOthers,
  DENSE,
  ownMetric,
  READINGS_RULE,
  type Reading,
} from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

const RANKS = 8;
const ITERATIONS = 2000;
/** The smallest difference of perplexities, relative to dense SGD's, that counts. */
const CLOSER = 0.001;

const cases: readonly Case[] = A2SGD_METHODS.map(({ id, name, exchange }) => ({
  id,
  label: name,
  spec: {
    workload: { model: 'lstm-small', dataset: 'sentences', batchPerRank: 4 },
    world: { ranks: RANKS },
    optimizer: { kind: 'sgd', lr: 5, momentum: 0, schedule: 'polynomial' },
    exchange,
    iterations: ITERATIONS,
    evaluateEvery: ITERATIONS / 10,
  },
}));

export const a2sgdFigure3Lstm: Figure = {
  id: 'a2sgd-figure-3-lstm',
  paper: A2SGD,
  number: 'Figure 3, LSTM',
  title: 'Perplexity of A2SGD and other methods, an LSTM on eight ranks',
  claim: {
    text:
      'Within the same number of epochs A2SGD comes closest to the perplexity of dense SGD, and ' +
      'closer than Top-K, Gaussian-K and QSGD.',
    quoted: [
      {
        text: 'A2SGD on LSTM-PTB with 8 workers: a perplexity of 135.53; “for all the cases, A2SGD achieves the closest top-1 accuracy to dense SGD within the same number of epochs”',
        where: 'section 4.2',
      },
      {
        text: 'the other methods’ perplexities are plotted, but the text gives no numbers',
        where: 'Figure 3',
      },
    ],
  },
  rule:
    'The distance of a method is its perplexity divided by that of dense SGD with the same seed, minus one, ' +
    'both on the test set at the end. A2SGD’s distance is smaller than that of each ' +
    'other method, by a tenth of a per cent or more; that is ours, as the text has no numbers of others. ' +
    READINGS_RULE,
  settings: [
    A2SGD_QSGD_SETTING,
    A2SGD_SHARE_SETTING,
    {
      text: 'SGD without momentum, with polynomial decay and no warm-up.',
      because: 'Table 1: the policy of LSTM-PTB is “PD” alone.',
    },
    {
      text: 'Eight workers × 4 windows, 2,000 iterations, a rate of 5.',
      because:
        'Section 4.2 has eight workers and 100 epochs, Table 1 a rate of 22 for 66 million parameters. With 0.1 % of the entries each is sent twice in 2,000 iterations. The rate is that of SparCML’s Figure 4 for the same model and as many windows in all, at which uncompressed training learns.',
    },
  ],
  history: [
    'Refuted by the average of the workers’ weights, whose perplexity was 5.72 where dense SGD had 1.59. By the workers’ own, 1.63 to 1.65, it is refuted, too.',
  ],
  differences: [
    'A small LSTM of bytes on embedded sentences (124,160 parameters), not LSTM-PTB.',
    AVERAGED_WEIGHTS,
  ],
  seeds: [11, 12, 13, 14, 15],
  cases,
  measure: (records) => ({
    values: {
      metric: required(doneOf(records).metric, 'perplexity at its end'),
      replicas: required(ownMetric(records), 'perplexity of its replicas'),
    },
    curve: replicaCurve(records),
  }),
  // As many bytes.
  guess: () => ({ metric: 256, replicas: 256 }),
  judge: (sweep) => ({
    parts: closerThanOthers((id, by) => distances(sweep, id, by), CLOSER),
    ours: A2SGD_METHODS.map(
      ({ id, name }) => `${name} ${formatQuantity(sweep.mean(id, 'replicas'))}`,
    ).join(', '),
  }),
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Perplexity on the test set by iteration. Means over the seeds; bars span the lowest to the highest value.',
    x: { label: 'iterations', scale: 'linear' },
    y: { label: 'perplexity', scale: 'log' },
    series: A2SGD_METHODS.map(({ id, name }) => ({
      name,
      points: meanCurve(sweep.curves(id)),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'method',
      'final perplexity',
      ...EXTREMES,
      'of averaged weights',
      'behind dense',
    ],
    rows: A2SGD_METHODS.map(({ id, name }) => [
      name,
      ...withExtremes(sweep.values(id, 'replicas'), formatQuantity),
      formatQuantity(sweep.mean(id, 'metric')),
      id === DENSE.id ? '–' : formatPercent(mean(distances(sweep, id, 'replicas'))),
    ]),
  }),
};

/** Distance behind dense SGD, relative, by seed. */
function distances(sweep: Sweep, id: string, by: Reading): readonly number[] {
  const measure = by === 'averaged' ? 'metric' : by;
  const dense = sweep.values(DENSE.id, measure);
  return sweep.values(id, measure).map((value, index) => value / dense[index]! - 1);
}
