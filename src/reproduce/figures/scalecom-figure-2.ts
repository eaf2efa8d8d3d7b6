/**
 * The similarity of workers' memories, and the share of the truly largest entries that one
 * worker chooses: by iteration, by rate, and with the low-pass filter. Source: ScaleCom,
 * section 2, Figure 2.
 */
import {
  formatFactor,
  formatPercent,
  formatQuantity,
} from '../../shared/words/units.ts';
import { meanCurve } from '../chart/chart.ts';
import type { Case, Figure, Setting as SettingOfRuns } from '../figure.ts';
import { atLeast, atMost, claim, exceedsTimes, named } from '../part.ts';
import { meanOver, similarityCurve } from '../run-measures.ts';
import { ratios } from '../sweep.ts';
import { CIFAR_10 } from './brought-data.ts';
import { SCALECOM } from './papers.ts';

const WORKERS = [2, 4, 8];
const [FEWEST, STANDARD] = [WORKERS[0]!, WORKERS.at(-1)!];
/** The paper's rates, a hundredfold apart. */
const [LOW, HIGH] = [0.01, 1];
const FILTER = 0.1;
/** Iterations of a run, as in the paper. */
const ITERATIONS = 90;
/** Number of iterations at either end over which a distance is averaged. */
const SPAN = 10;
/** Comparing the ranks takes longer than the iteration. */
const EVERY = 5;
/** The most by which distances differ if the number of workers does not matter: a tenth. */
const ALIKE = 1.1;
/** The paper's overlap, and less than half. */
const [OVERLAP, HALF] = [0.7, 0.5];

interface Setting {
  readonly id: string;
  readonly label: string;
  readonly workers: number;
  readonly lr: number;
  readonly exchange: { readonly method: string; readonly beta?: number };
}

const LOCAL = { method: 'topk' };

const atLowRate = (workers: number): Setting => ({
  id: `low-p${workers}`,
  label: `rate ${LOW}, ${workers} workers`,
  workers,
  lr: LOW,
  exchange: LOCAL,
});
const HIGH_RATE: Setting = {
  id: 'high',
  label: `rate ${HIGH}, ${STANDARD} workers`,
  workers: STANDARD,
  lr: HIGH,
  exchange: LOCAL,
};
const FILTERED: Setting = {
  id: 'filtered',
  label: `rate ${HIGH}, CLT-k with β = ${FILTER}, ${STANDARD} workers`,
  workers: STANDARD,
  lr: HIGH,
  exchange: { method: 'scalecom', beta: FILTER },
};
/** The filter's counterpart without it. */
const UNFILTERED: Setting = {
  id: 'unfiltered',
  label: `rate ${HIGH}, CLT-k without filter, ${STANDARD} workers`,
  workers: STANDARD,
  lr: HIGH,
  exchange: { method: 'scalecom', beta: 1 },
};
const LOW_RATE = atLowRate(STANDARD);
const SETTINGS: readonly Setting[] = [
  ...WORKERS.map(atLowRate),
  HIGH_RATE,
  UNFILTERED,
  FILTERED,
];

/** All of ResNet-18's gradient, 44 MB, is in one bucket, as FNN-3's is. */
const WHOLE = { bucketBytes: 2 ** 26 };

const casesOf = (workload: object, buckets: object = {}): readonly Case[] =>
  SETTINGS.map(({ id, label, workers, lr, exchange }) => ({
    id,
    label,
    spec: {
      workload: { ...workload, batchPerRank: 32 },
      world: { ranks: workers },
      optimizer: { kind: 'sgd', lr, momentum: 0 },
      exchange: {
        ...exchange,
        ratio: 0.001,
        diagnosticsEvery: EVERY,
        ...buckets,
      },
      iterations: ITERATIONS,
      evaluateEvery: 0,
    },
  }));

const COMMON = [
  'Workers are compared in every fifth iteration. The distance is the mean over all pairs of workers, not that of workers 0 and 1.',
  'An overlap is the share of the magnitude of the k truly largest entries that the entries of worker 0 have in the average over workers. The paper’s is an area of two histograms on logarithmic axes. How many of the entries are the same is in the table.',
];

const BOTH_SCALES: readonly SettingOfRuns[] = [
  {
    text: 'Workers choose for themselves, except in the part about the filter.',
    because:
      'Section 2: “local memory in the first 90 iterations of ResNet18 (CIFAR10) with conventional local top-k compressor”; Figure 2c: “low pass filter’s β in CLT-k”.',
  },
  {
    text: '0.1 % of the entries, 90 iterations, rates of 0.01 and 1, β = 0.1.',
    because:
      'Section 2: “top-0.1% is used”, “at iteration 90 in epoch 0”, “learning rate is increased from 0.01 to 1 (100X)”; Figure 2d: “(=1) and low-pass filter (=0.1)”.',
  },
  {
    text: '32 samples per worker; 2, 4 and 8 workers.',
    because:
      'Figure 3: “Per-worker batch size is 32”; figure A1: “with 8 workers”. The text gives no other numbers of workers; between ours is a factor of four.',
  },
  {
    text: 'The overlap is one of magnitudes.',
    because:
      'Section 2: “The true top-k area overlaps more than 70% with the red histogram representing local top-k of worker 0”: an area of a histogram of magnitudes, not a share of indices.',
  },
  {
    text: 'SGD without momentum.',
    because: 'Ours: equations 1 and 5 have none, and section 2 does not mention it.',
  },
];

export const scalecomFigure2: Figure = {
  id: 'scalecom-figure-2',
  paper: SCALECOM,
  number: 'Figure 2',
  title: 'Similarity of the memories of workers',
  claim: {
    text:
      'The cosine distance between two workers’ memories falls fast over the first ' +
      'iterations for any number of workers, and one worker chooses most of ' +
      'what the truly largest entries hold. A rate a hundred times as high makes the distance much ' +
      'larger; the low-pass filter reduces it again.',
    quoted: [
      {
        text: '“The cosine distance decreases fast over the iterations”, and “this phenomenon is agnostic to increasing worker number when learning rate and per-worker batch size stays the same”',
        where: 'section 2, Figure 2a',
      },
      {
        text: 'the true top-k’s area “overlaps more than 70% with the red histogram representing local top-k of worker 0”',
        where: 'section 2, Figure 2b',
      },
      {
        text: 'rate 0.01 to 1: “cosine distance becomes much larger”; the filter with β = 0.1 “can improve the similarity”',
        where: 'section 2, Figure 2c',
      },
      {
        text: 'at odds with the 70 %: normalised Hamming distance of 0.6 to 0.8 at rate 0.1 and 400 times, which is an overlap of 20 to 40 %',
        where: 'Figure 3',
      },
    ],
  },
  rule:
    'Five parts. First: at rate 0.01 and for each number of workers the distance over the last ten ' +
    'of 90 iterations is smaller than over the first ten. Second: at the end ' +
    `it is at ${STANDARD} workers at most a tenth larger than at ${FEWEST}. ` +
    `Third: with ${STANDARD} workers at rate 0.01 the entries of one worker hold at the ` +
    'end at least 70 % of the magnitude of the truly largest, as in the paper; less ' +
    'than half refutes the claim. Fourth: at rate 1 the distance at the end is larger ' +
    'than at rate 0.01. Fifth: at rate 1 it is smaller under CLT-k with β = 0.1 than ' +
    'under CLT-k without the filter. Smaller and larger mean by a tenth or more, the ' +
    'bound of the second part.',
  settings: BOTH_SCALES,
  history: [
    'Refuted by the likeness of memories under ScaleCom itself, with 4 to 16 workers, and by a share of indices, of which 12.9 % were the same. The paper has local top-k, and an area of a histogram of magnitudes.',
    'Refuted by the paper’s own measures as well, in one part: the distance is 1.64 times as large with 8 workers as with 2. One worker’s entries hold 71 % of the largest magnitudes, as claimed.',
  ],
  differences: ['FNN-3 on the embedded digits, not ResNet18 on CIFAR10.', ...COMMON],
  // Not those by which the settings were examined before.
  seeds: [11, 12, 13, 14, 15],
  cases: casesOf({ model: 'fnn3', dataset: 'digits' }),
  full: {
    cases: casesOf({ model: 'resnet-18', dataset: 'cifar-10' }, WHOLE),
    data: CIFAR_10,
    settings: BOTH_SCALES,
    differences: [
      'ResNet18 on CIFAR10 as in the paper; its shortcuts have no weights (11,000,138 parameters), and images are neither cropped nor flipped. Of the numbers of workers only 8 is the paper’s: its text does not give the others.',
      ...COMMON,
    ],
  },
  measure: (records) => {
    const curve = similarityCurve(records, 'residualDistance');
    const missed = similarityCurve(records, 'hammingDistance');
    const share = similarityCurve(records, 'magnitudeShare');
    const end = [ITERATIONS - SPAN, ITERATIONS] as const;
    return {
      values: {
        early: meanOver(curve, 0, SPAN, 'similarity of ranks'),
        late: meanOver(curve, ...end, 'similarity of ranks'),
        overlap: meanOver(share, ...end, 'overlap of magnitudes'),
        same: 1 - meanOver(missed, ...end, 'overlap of entries'),
      },
      curve,
    };
  },
  judge: (sweep) => {
    const late = ({ id }: Setting): readonly number[] => sweep.values(id, 'late');
    const growth = ratios(late(LOW_RATE), late(atLowRate(FEWEST)));
    return {
      parts: [
        claim(
          `at rate ${LOW} the distance falls`,
          ...WORKERS.map((workers) => {
            const setting = atLowRate(workers);
            return named(
              `${workers} workers`,
              exceedsTimes(sweep.values(setting.id, 'early'), late(setting), ALIKE),
            );
          }),
        ),
        claim(
          `at rate ${LOW} it ends as small with ${STANDARD} workers as with ${FEWEST}`,
          atMost(growth, { trueAt: ALIKE, scale: 'ratio', format: formatFactor }),
        ),
        claim(
          `at rate ${LOW} one worker’s entries hold 70 % of the largest magnitudes`,
          atLeast(sweep.values(LOW_RATE.id, 'overlap'), {
            trueAt: OVERLAP,
            falseAt: HALF,
            format: formatPercent,
          }),
        ),
        claim(
          `at rate ${HIGH} the distance ends larger than at ${LOW}`,
          exceedsTimes(late(HIGH_RATE), late(LOW_RATE), ALIKE),
        ),
        claim(
          `at rate ${HIGH} it ends smaller under CLT-k with β = ${FILTER}`,
          exceedsTimes(late(UNFILTERED), late(FILTERED), ALIKE),
        ),
      ],
      ours:
        'distance at the end ' +
        SETTINGS.map(
          ({ id, label }) => `${formatQuantity(sweep.mean(id, 'late'))} (${label})`,
        )
          .concat(
            `one worker’s entries hold ${formatPercent(sweep.mean(LOW_RATE.id, 'overlap'))} of the largest magnitudes (${LOW_RATE.label})`,
          )
          .join(', '),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Mean cosine distance between the memories of two workers, by iteration: 0 ' +
      'where they point the same way, 1 where they have nothing in common. Means ' +
      'over the seeds; bars span the lowest to the highest value.',
    x: { label: 'iteration', scale: 'linear' },
    y: { label: 'cosine distance of memories', scale: 'linear' },
    series: SETTINGS.map(({ id, label }) => ({
      name: label,
      points: meanCurve(sweep.curves(id)),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'setting',
      'distance at first',
      'distance at the end',
      'of the largest magnitudes',
      'of the largest entries',
    ],
    rows: SETTINGS.map(({ id, label }) => [
      label,
      formatQuantity(sweep.mean(id, 'early')),
      formatQuantity(sweep.mean(id, 'late')),
      formatPercent(sweep.mean(id, 'overlap')),
      formatPercent(sweep.mean(id, 'same')),
    ]),
  }),
};
