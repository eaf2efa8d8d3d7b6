/**
 * Test loss of a recommendation model, by the share of its gradients that DCT-DP leaves
 * out. Source: DCT, section 3.1, "DP with the DLRM Model".
 */
import type { Case } from '../figure.ts';
import {
  BASELINE,
  CLICK_ADAGRAD,
  CLICK_DIFFERENCES,
  CLICK_PASS,
  clickTraining,
  LAPTOP_CLICKS,
  losesMore,
  losesNothing,
  PAPER_CLICK_BATCH,
  PAPER_CLICKS,
  quotedLosses,
  RISE_TEXT,
  type ClickScale,
  type Compressed,
} from './click-loss.ts';
import { clickTable } from './click-table.ts';

/** η in percent, and the paper's loss for it. */
const SPARSITIES = [
  sparsity(75, 0.4534),
  sparsity(90, 0.4536),
  sparsity(95, 0.4538),
  sparsity(98, 0.4537),
  sparsity(99.5, 0.4547),
];
const MODERATE = SPARSITIES.slice(0, -1);
const EXTREME = SPARSITIES.at(-1)!;

function sparsity(percent: number, theirs: number): Compressed & { percent: number } {
  const name = `${percent} %`;
  return { id: `eta-${percent}`, name, at: `at ${name}`, percent, theirs };
}

const RANKS = 2;

function casesOf(scale: ClickScale, batchPerRank: number): readonly Case[] {
  const caseOf = (id: string, label: string, method: object): Case => ({
    id,
    label,
    spec: {
      ...clickTraining(scale, batchPerRank),
      world: { ranks: RANKS },
      exchange: { ...method, layers: [{ match: 'embedding', method: 'nonzero' }] },
    },
  });
  return [
    caseOf(BASELINE, 'uncompressed', { method: 'none' }),
    ...SPARSITIES.map(({ id, name, percent }) =>
      caseOf(id, name, {
        method: 'dct',
        ratio: Number((1 - percent / 100).toPrecision(6)),
      }),
    ),
  ];
}

const COMMON = [
  'Synchronous SGD between two ranks, not a parameter server with several threads per trainer.',
  'A threshold is kept for up to 1,000 iterations and is renewed early where it selects four times too much or too little.',
  'In every run, gradients of the embedding table are sent exactly, and only the entries in use.',
];

export const dctTable2 = clickTable({
  id: 'dct-table-2',
  number: 'Table 2',
  title: 'Test loss of a recommendation model, by the share of its gradient left out',
  claim: {
    text:
      'Trained with thresholds that are kept between iterations, DLRM loses nothing ' +
      'when up to 98 % of the gradients of its fully connected layers is left out. ' +
      'At 99.5 % its test loss rises.',
    quoted: [{ text: quotedLosses(SPARSITIES), where: 'Table 2' }],
  },
  rule:
    'Two parts. First: at 75, 90, 95 and 98 % the test loss is not above that of ' +
    'uncompressed training. Second: at 99.5 % it is above that of uncompressed ' +
    `training and of each of the other four. ${RISE_TEXT}`,
  settings: [
    CLICK_ADAGRAD,
    CLICK_PASS,
    {
      text: 'Two ranks × 64 samples; 75, 90, 95, 98 and 99.5 % left out, thresholds kept for up to 1,000 iterations.',
      because:
        'Table 2; section 2.1: “L is generally in thousands”; footnote 1’s script: “--mini-batch-size=128”.',
    },
  ],
  differences: [
    'A small DLRM on an embedded click log (150,000 samples for training, 50,000 for the test), not the paper’s on Criteo’s.',
    ...COMMON,
  ],
  cases: casesOf(LAPTOP_CLICKS, PAPER_CLICK_BATCH / RANKS),
  full: {
    cases: casesOf(PAPER_CLICKS, PAPER_CLICK_BATCH / RANKS),
    differences: [...CLICK_DIFFERENCES, ...COMMON],
  },
  rows: SPARSITIES,
  axis: 'share of the gradient that is left out',
  parts: (sweep) => [
    ...MODERATE.map((row) => losesNothing(sweep, row)),
    losesMore(sweep, EXTREME),
    ...MODERATE.map((row) => losesMore(sweep, EXTREME, row)),
  ],
});
