/**
 * Test loss of a recommendation model under hybrid parallelism, where both the gradients that
 * replicas exchange and the activations that stages pass on are compressed. Source: DCT,
 * section 3.1, "Communication-efficient Hybrid Training".
 */
import type { Case, Figure } from '../figure.ts';
import { CRITEO } from './brought-data.ts';
import {
  BASELINE,
  CLICK_DIFFERENCES,
  clickLoss,
  clickTraining,
  isClickLoss,
  LAPTOP_CLICKS,
  losesMore,
  losesNothing,
  lossChart,
  lossTable,
  ourLosses,
  PAPER_CLICK_BATCH,
  PAPER_CLICKS,
  quotedLosses,
  splitsInto,
  type ClickScale,
  type Compressed,
} from './click-loss.ts';
import { DCT } from './papers.ts';

const PIPELINES = 2;

interface Hybrid extends Compressed {
  readonly stages: number;
  /** η of gradients and of activations. */
  readonly percent: number;
}

const FREE = [hybrid(3, 75, 0.4535), hybrid(3, 90, 0.4537), hybrid(2, 90)];
const COSTLY = hybrid(3, 95, 0.4548);
/** With a split less. */
const BESIDE = hybrid(2, 95);
const ROWS = [...FREE, COSTLY, BESIDE].toSorted(
  (a, b) => a.stages - b.stages || a.percent - b.percent,
);

function hybrid(stages: number, percent: number, theirs?: number): Hybrid {
  return {
    ...{ id: `hybrid${stages}-${percent}`, stages, percent },
    name: `${stages} stages at ${percent} %`,
    at: `with ${stages} stages at ${percent} %`,
    ...(theirs === undefined ? {} : { theirs }),
  };
}

function casesOf(scale: ClickScale): readonly Case[] {
  const caseOf = (
    id: string,
    label: string,
    stages: number,
    exchange: object,
  ): Case => ({
    id,
    label,
    spec: {
      ...clickTraining(scale, PAPER_CLICK_BATCH / PIPELINES),
      world: { ranks: stages * PIPELINES },
      ...splitsInto(scale, stages),
      exchange: { ...exchange, layers: [{ match: 'embedding', method: 'nonzero' }] },
    },
  });
  return [
    caseOf(BASELINE, 'uncompressed', 2, { method: 'none' }),
    ...ROWS.map(({ id, name, percent, stages }) =>
      caseOf(id, name, stages, {
        method: 'dct',
        ratio: Number((1 - percent / 100).toPrecision(6)),
        activations: { method: 'dct-mp', sparsity: percent / 100 },
      }),
    ),
  ];
}

const PIPELINES_NOTE =
  'Two pipelines of two or three stages, a rank each. The paper has three workers a pipeline, and does not say how many pipelines; its table has no rows for two.';
const COMMON = [
  'Replicas of a stage exchange gradients synchronously, not by a parameter server with several threads a trainer. A threshold lives on for up to 1,000 iterations and is renewed early where it selects four times too much or too little.',
  'Gradients of the table of embeddings travel exactly, the entries in use alone, in every run.',
  'Samples of the test set pass as those of training do, so that the network that is tested is the one that was trained.',
];

export const dctTable3: Figure = {
  id: 'dct-table-3',
  paper: DCT,
  number: 'Table 3',
  title:
    'Test loss under hybrid parallelism, by the share of gradients and activations that is left out',
  claim: {
    text:
      'Where both gradients between replicas and activations between the parts of a DLRM are ' +
      'compressed, nothing is lost up to 90 %. At 95 % the test loss rises. The more often a model ' +
      'is split, the less can be left out.',
    quoted: [
      { text: quotedLosses(ROWS), where: 'Table 3' },
      {
        text: '“as the number of workers for MP (i.e., model splits) increases, the compression factor with DCT-MP decreases”',
        where: 'section 3',
      },
    ],
  },
  rule:
    'Three parts. First: with three stages at 75 and 90 %, and with two at 90 %, the test loss is ' +
    'not clearly above that of uncompressed training with the same seed. Second: with three stages ' +
    'at 95 % it is clearly above. Third: at 95 % it is clearly above with three stages than with ' +
    'two. Clearly: the mean over the seeds of the difference is larger than its spread, the largest ' +
    'less the smallest. The last two parts see to it that a spread which could hide a loss does not ' +
    'confirm that there is none.',
  differences: [
    'A small DLRM on the embedded click log (20,000 samples), not the paper’s on Criteo’s; 300 iterations of 2 × 64 samples in two micro-batches, about two epochs.',
    PIPELINES_NOTE,
    'Both networks have two layers, not four: they are split behind the first, which has 64 units, not 256.',
    ...COMMON,
  ],
  seeds: [1, 2, 3],
  cases: casesOf(LAPTOP_CLICKS),
  full: {
    cases: casesOf(PAPER_CLICKS),
    data: CRITEO,
    differences: [...CLICK_DIFFERENCES, PIPELINES_NOTE, ...COMMON],
  },
  keeps: isClickLoss,
  measure: clickLoss,
  judge: (sweep) => ({
    findings: [
      ...FREE.map((row) => losesNothing(sweep, row)),
      losesMore(sweep, COSTLY),
      losesMore(sweep, COSTLY, BESIDE),
    ],
    ours: ourLosses(sweep, ROWS),
  }),
  chart: (sweep) =>
    lossChart(sweep, ROWS, 'stages of a pipeline, share that is left out'),
  table: (sweep) => lossTable(sweep, ROWS, 'left out'),
};
