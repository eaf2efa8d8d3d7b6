/**
 * Shared by DCT's tables of test losses: a small recommendation model, trained on clicks in the
 * same way in every run, and its loss compared with uncompressed training.
 */
import { formatCount } from '../../shared/words/units.ts';
import type { Setting } from '../figure.ts';
import { CRITEO_FILE, CRITEO_SAMPLES } from './brought-data.ts';
import { lossesAgainst } from './dct-losses.ts';

/** The test loss of uncompressed training in the paper's Tables 1 to 3. */
const THEIRS = 0.4538;

export const {
  guessLoss,
  losesMore,
  losesNothing,
  lossChart,
  lossTable,
  measureLoss,
  ourLosses,
  quotedLosses,
  trainsAsWell,
} = lossesAgainst({
  compared: 'test loss',
  theirs: THEIRS,
  // With three workers at 95 % in its Table 1, the smallest rise that the paper counts as one.
  rises: 0.4546,
  guess: Math.LN2,
  metric: { name: 'AUC', value: 'auc', guess: 0.5 },
});

export const RISE_TEXT =
  'Above means by 0.18 % or more, relative to the other loss with the same seed: the ' +
  'smallest rise that the paper counts as one (0.4538 to 0.4546, Table 1).';

/** A difference of all these tables. */
export const CLICK_MEASURES =
  'The paper’s tables have accuracies, and losses in training, too. Here the table has the AUC in place of the accuracy, which is above chance only where more is clicked than not, and the loss in training over the last fifth of the iterations, of samples that are all new.';

/** A recommendation model, and how it is trained. */
export interface ClickScale {
  readonly workload: object;
  readonly optimizer: object;
  readonly iterations: number;
  /** The layers after which both networks are split, the lower one first. */
  readonly splitAfter: readonly [string, string];
}

/**
 * Samples per iteration over all pipelines: as in the benchmark to which the paper's
 * footnote 1 points, facebookresearch/dlrm's for the Kaggle data.
 */
export const PAPER_CLICK_BATCH = 128;
/** The samples for training of the large click log, once. */
const PASS_OF_CLICKS = Math.ceil(150_000 / PAPER_CLICK_BATCH);
export const LAPTOP_CLICKS: ClickScale = {
  workload: { model: 'dlrm-small', dataset: 'clicks-large' },
  optimizer: { kind: 'adagrad', lr: 0.02, schedule: 'linear' },
  iterations: PASS_OF_CLICKS,
  splitAfter: ['bottom1', 'top1'],
};
/**
 * The same by plain SGD, for figures that watch a training that goes on.
 * @param lr a constant rate
 */
export const sgdOnClicks = (lr: number, iterations: number): ClickScale => ({
  ...LAPTOP_CLICKS,
  optimizer: { kind: 'sgd', lr, momentum: 0 },
  iterations,
});

/** DCT's text names no optimiser, but where its settings are. */
export const CLICK_SCRIPT =
  'Footnote 1: “See the Criteo Kaggle benchmark for further details on the training process”, whose script (facebookresearch/dlrm, bench/dlrm_s_criteo_kaggle.sh) has plain SGD at a rate of 0.1 and batches of 128';

/** Settings of DCT's tables of losses. */
export const CLICK_ADAGRAD: Setting = {
  text: 'Adagrad at a rate of 0.02.',
  because: `${CLICK_SCRIPT}, for 300,000 iterations. In the thousand here, plain SGD leaves the network half trained: uncompressed, with another seed, it ended at a test loss of 0.61 with a rate of 0.1 and 0.52 with 1, Adagrad at 0.44. Losses of compression would hide in such a training.`,
};
export const CLICK_PASS: Setting = {
  text: `${formatCount(PASS_OF_CLICKS)} iterations of 128 samples, one pass over 150,000; the rate falls linearly to 0.`,
  because:
    'Footnote 1’s script makes one pass, so every sample is new; so it is here. It has a constant rate; here it falls, because with a constant one the loss of the last iterations varies by more than the effects in the table.',
};
export const PAPER_CLICKS: ClickScale = {
  workload: { model: 'dlrm', dataset: 'criteo', data: CRITEO_FILE },
  optimizer: { kind: 'sgd', lr: 0.1, momentum: 0 },
  iterations: Math.ceil(CRITEO_SAMPLES / PAPER_CLICK_BATCH),
  splitAfter: ['bottom2', 'top2'],
};

const PASS = formatCount(PAPER_CLICKS.iterations);
/** Settings of training at full scale. */
export const FULL_CLICK_SGD: Setting = {
  text: 'Plain SGD at a rate of 0.1.',
  because: `${CLICK_SCRIPT}.`,
};
export const FULL_CLICK_SETTINGS: readonly Setting[] = [
  FULL_CLICK_SGD,
  {
    text: `${PASS} iterations of ${PAPER_CLICK_BATCH} samples, one pass over six days.`,
    because:
      'Section 3.1: “Training and testing sets comprise of 6 days and one day, respectively”. The text does not say how often they are passed over; footnote 1’s script makes one pass.',
  },
];
/** Differences between training at full scale and the paper's. */
export const CLICK_DIFFERENCES = [
  `The paper’s DLRM on Criteo’s log. Its last day is for testing, as in the paper, if it is in ${CRITEO_FILE}.t; otherwise every tenth sample is.`,
  'Categories are hashed to 262,144 rows of one table; DLRM has a full table for each column.',
];

/** A training's `parallelism`. */
export const splitsInto = ({ splitAfter }: ClickScale, stages: number) => ({
  parallelism: {
    pipeline: { splitAfter: splitAfter.slice(0, stages - 1), microBatches: 2 },
  },
});

/** Returns a training's spec, without `world` and `exchange`. */
export const clickTraining = (
  { iterations, optimizer, workload }: Omit<ClickScale, 'splitAfter'>,
  batchPerRank: number,
) => ({
  workload: { ...workload, batchPerRank },
  optimizer,
  iterations,
  evaluateEvery: 0,
});
