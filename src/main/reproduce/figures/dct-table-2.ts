/**
 * Test loss of a recommendation model, by how much of its gradients DCT-DP leaves out.
 * Source: DCT, section 3.1, "DP with the DLRM Model".
 */
import { formatQuantity } from '../../../shared/units.ts';
import { pointOf } from '../chart/chart.ts';
import { below, notAbove } from '../contrast.ts';
import type { Case, Figure } from '../figure.ts';
import { evaluationsOf, required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { DCT } from './papers.ts';

const BASELINE = 'baseline';
/** η in percent, and what the paper has of it. */
const SPARSITIES = [
  { percent: 75, theirs: 0.4534 },
  { percent: 90, theirs: 0.4536 },
  { percent: 98, theirs: 0.4537 },
  { percent: 99.5, theirs: 0.4547 },
];
const BASELINE_THEIRS = 0.4538;
const MODERATE = SPARSITIES.slice(0, -1);
const EXTREME = SPARSITIES.at(-1)!;

const idOf = (percent: number): string => `eta-${percent}`;

function caseOf(id: string, label: string, method: Record<string, unknown>): Case {
  return {
    id,
    label,
    spec: {
      workload: { model: 'dlrm-small', dataset: 'clicks', batchPerRank: 128 },
      world: { ranks: 2 },
      optimizer: { kind: 'adagrad', lr: 0.02 },
      exchange: { ...method, layers: [{ match: 'embedding', method: 'nonzero' }] },
      iterations: 300,
      evaluateEvery: 0,
    },
  };
}

const cases: readonly Case[] = [
  caseOf(BASELINE, 'uncompressed', { method: 'none' }),
  ...SPARSITIES.map(({ percent }) =>
    caseOf(idOf(percent), `${percent} %`, {
      method: 'dct',
      ratio: Number((1 - percent / 100).toPrecision(6)),
    }),
  ),
];

export const dctTable2: Figure = {
  id: 'dct-table-2',
  paper: DCT,
  number: 'Table 2',
  title:
    'Test loss of a recommendation model, by the share of its gradient that is left out',
  claim: {
    text:
      'Trained with thresholds that live on, DLRM loses nothing when up to 98 % of the gradients ' +
      'of its fully connected layers is left out. At 99.5 % its test loss rises.',
    quoted: [
      {
        text:
          `test loss: uncompressed ${BASELINE_THEIRS}, ` +
          SPARSITIES.map(({ percent, theirs }) => `${percent} % ${theirs}`).join(', '),
        where: 'Table 2',
      },
    ],
  },
  rule:
    'Two parts. First: at 75, 90 and 98 % the test loss is not clearly above that of ' +
    'uncompressed training with the same seed. Second: at 99.5 % it is clearly above that of ' +
    'uncompressed training and of each of the other three. Clearly: the mean over the seeds of ' +
    'the difference is larger than its spread, the largest less the smallest. The second part ' +
    'sees to it that a spread which could hide a loss does not confirm that there is none.',
  differences: [
    'The paper’s row of 95 % (0.4538) is not repeated.',
    'A small DLRM on the embedded click log (20,000 samples), not the paper’s on Criteo’s; 300 iterations of 2 × 128 samples.',
    'Synchronous SGD between two ranks, not a parameter server with several threads a trainer.',
    'A threshold lives on for up to 1,000 iterations and is renewed early where it selects four times too much or too little.',
    'Gradients of the table of embeddings travel exactly, the entries in use alone, in every run.',
  ],
  seeds: [1, 2, 3],
  cases,
  measure: (records) => {
    const last = evaluationsOf(records).at(-1);
    return {
      values: {
        loss: required(last?.loss, 'loss on the test set at its end'),
        auc: required(last?.metric, 'AUC on the test set at its end'),
      },
    };
  },
  judge: (sweep) => {
    const loss = (id: string): readonly number[] => sweep.values(id, 'loss');
    const baseline = loss(BASELINE);
    const extreme = loss(idOf(EXTREME.percent));
    return {
      findings: [
        ...MODERATE.map(({ percent }) => ({
          text: `at ${percent} % the test loss is not above that of uncompressed training`,
          outcome: notAbove(loss(idOf(percent)), baseline),
        })),
        {
          text: `at ${EXTREME.percent} % it is above that of uncompressed training`,
          outcome: below(baseline, extreme),
        },
        ...MODERATE.map(({ percent }) => ({
          text: `at ${EXTREME.percent} % it is above that at ${percent} %`,
          outcome: below(loss(idOf(percent)), extreme),
        })),
      ],
      ours: [
        `test loss: uncompressed ${formatQuantity(sweep.mean(BASELINE, 'loss'))}`,
        ...SPARSITIES.map(
          ({ percent }) =>
            `${percent} % ${formatQuantity(sweep.mean(idOf(percent), 'loss'))}`,
        ),
      ].join(', '),
    };
  },
  chart: (sweep) => ({
    kind: 'bars',
    caption:
      'Change of the test loss against uncompressed training with the same seed, in percent; ' +
      'above 0 is worse. Means over the seeds; bars from the least to the most.',
    x: {
      label: 'share of the gradient that is left out',
      scale: 'linear',
      categories: SPARSITIES.map(({ percent }) => `${percent} %`),
    },
    y: { label: 'change of the test loss (%)', scale: 'linear' },
    series: [
      {
        name: 'here',
        points: SPARSITIES.map(({ percent }, index) =>
          pointOf(index, changes(sweep, percent)),
        ),
      },
      {
        name: 'the paper',
        points: SPARSITIES.map(({ theirs }, index) =>
          pointOf(index, [100 * (theirs / BASELINE_THEIRS - 1)]),
        ),
      },
    ],
  }),
  table: (sweep) => ({
    columns: [
      'left out',
      'test loss, paper',
      'test loss, here',
      'change, here',
      'AUC, here',
    ],
    rows: [
      [
        'nothing',
        String(BASELINE_THEIRS),
        formatQuantity(sweep.mean(BASELINE, 'loss')),
        '–',
        formatQuantity(sweep.mean(BASELINE, 'auc')),
      ],
      ...SPARSITIES.map(({ percent, theirs }) => [
        `${percent} %`,
        String(theirs),
        formatQuantity(sweep.mean(idOf(percent), 'loss')),
        signed(mean(changes(sweep, percent))),
        formatQuantity(sweep.mean(idOf(percent), 'auc')),
      ]),
    ],
  }),
};

/** Against the baseline, in percent, by seed. */
function changes(sweep: Sweep, percent: number): readonly number[] {
  const baseline = sweep.values(BASELINE, 'loss');
  return sweep
    .values(idOf(percent), 'loss')
    .map((value, index) => 100 * (value / baseline[index]! - 1));
}

const signed = (percent: number): string =>
  `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(2)} %`;
