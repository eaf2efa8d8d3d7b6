/**
 * Test loss of a recommendation model, by the share of its gradients that DCT-DP leaves
 * out. Source: DCT, section 3.1, "DP with the DLRM Model".
 */
import type { Setting } from '../figure.ts';
import {
  CLICK_ADAGRAD,
  CLICK_DIFFERENCES,
  CLICK_PASS,
  FULL_CLICK_SETTINGS,
  losesMore,
  losesNothing,
  quotedLosses,
  RISE_TEXT,
} from './click-loss.ts';
import {
  EXACT_EMBEDDING,
  laptopReplicas,
  leavingOut,
  paperReplicas,
  type CompressedGradients,
} from './click-replicas.ts';
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

function sparsity(percent: number, theirs: number): CompressedGradients {
  const name = `${percent} %`;
  const exchange = leavingOut(percent);
  return { id: `eta-${percent}`, name, at: `at ${name}`, theirs, exchange };
}

const COMMON = [
  'Synchronous SGD between two ranks, not a parameter server with several threads per trainer.',
  'A threshold is kept for up to 1,000 iterations and is renewed early where it selects four times too much or too little.',
  EXACT_EMBEDDING,
];

const BOTH_SCALES: readonly Setting[] = [
  {
    text: 'Two ranks × 64 samples; 75, 90, 95, 98 and 99.5 % left out, thresholds kept for up to 1,000 iterations.',
    because:
      'Table 2; section 2.1: “L is generally in thousands”; footnote 1’s script: “--mini-batch-size=128”. The text names no number of trainers: two are ours.',
  },
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
  settings: [CLICK_ADAGRAD, CLICK_PASS, ...BOTH_SCALES],
  differences: [
    'A small DLRM on an embedded click log (150,000 samples for training, 50,000 for the test), not the paper’s on Criteo’s.',
    ...COMMON,
  ],
  cases: laptopReplicas(SPARSITIES),
  full: {
    cases: paperReplicas(SPARSITIES),
    settings: [...FULL_CLICK_SETTINGS, ...BOTH_SCALES],
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
