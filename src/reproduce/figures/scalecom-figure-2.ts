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
import type { Case, Figure } from '../figure.ts';
import { atLeast, atMost, claim, exceedsTimes, named } from '../part.ts';
import { meanOver, similarityCurve } from '../run-measures.ts';
import { ratios } from '../sweep.ts';
import { CIFAR_10 } from './brought-data.ts';
import { SCALECOM } from './papers.ts';

const WORKERS = [4, 8, 16];
const [FEWEST, STANDARD, MOST] = WORKERS as [number, number, number];
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
  readonly beta: number;
}

const atLowRate = (workers: number): Setting => ({
  id: `low-p${workers}`,
  label: `rate ${LOW}, ${workers} workers`,
  workers,
  lr: LOW,
  beta: 1,
});
const HIGH_RATE: Setting = {
  id: 'high',
  label: `rate ${HIGH}, ${STANDARD} workers`,
  workers: STANDARD,
  lr: HIGH,
  beta: 1,
};
const FILTERED: Setting = {
  id: 'filtered',
  label: `rate ${HIGH}, β = ${FILTER}, ${STANDARD} workers`,
  workers: STANDARD,
  lr: HIGH,
  beta: FILTER,
};
const LOW_RATE = atLowRate(STANDARD);
const SETTINGS: readonly Setting[] = [...WORKERS.map(atLowRate), HIGH_RATE, FILTERED];

/** All of ResNet-18's gradient, 44 MB, is in one bucket, as FNN-3's is. */
const WHOLE = { bucketBytes: 2 ** 26 };

const casesOf = (workload: object, buckets: object = {}): readonly Case[] =>
  SETTINGS.map(({ id, label, workers, lr, beta }) => ({
    id,
    label,
    spec: {
      workload: { ...workload, batchPerRank: 32 },
      world: { ranks: workers },
      optimizer: { kind: 'sgd', lr, momentum: 0 },
      exchange: {
        method: 'scalecom',
        ratio: 0.001,
        beta,
        diagnosticsEvery: EVERY,
        ...buckets,
      },
      iterations: ITERATIONS,
      evaluateEvery: 0,
    },
  }));

const COMMON = [
  'Distances at rate 0.01 are those under ScaleCom with β = 1, whose memories exclude the leader’s entries; in Figures 2a and 2b workers choose for themselves. A worker’s own largest entries wait in its memory until it leads: the more workers, the longer.',
  'Workers are compared in every fifth iteration. The distance is the mean over all pairs of workers, not that of workers 0 and 1.',
  'An overlap is the share of the k truly largest entries that the leader has chosen. The paper’s is an area of two histograms, which may weight entries differently.',
];

export const scalecomFigure2: Figure = {
  id: 'scalecom-figure-2',
  paper: SCALECOM,
  number: 'Figure 2',
  title: 'Similarity of the memories of workers',
  claim: {
    text:
      'The cosine distance between two workers’ memories falls fast over the first ' +
      'iterations for any number of workers, and one worker chooses most of the ' +
      'truly largest entries. A rate a hundred times as high makes the distance much ' +
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
    `it is at ${MOST} workers at most a tenth larger than at ${FEWEST}. ` +
    `Third: with ${STANDARD} workers at rate 0.01 the leader’s entries are at ` +
    'least 70 % of the truly largest at the end, as in the paper; less than half ' +
    'refutes the claim. Fourth: at rate 1 the distance at the end is larger than at ' +
    'rate 0.01. Fifth: at rate 1 it is smaller with β = 0.1 than without the filter. ' +
    'Smaller and larger mean by a tenth or more, the bound of the second part.',
  differences: [
    'FNN-3 on the embedded digits, not ResNet18 on CIFAR10; as in the paper 90 iterations, the rates 0.01 and 1, 0.1 % of the entries and 32 samples per worker.',
    ...COMMON,
  ],
  seeds: [1, 2, 3, 4, 5],
  cases: casesOf({ model: 'fnn3', dataset: 'digits' }),
  full: {
    cases: casesOf({ model: 'resnet-18', dataset: 'cifar-10' }, WHOLE),
    data: CIFAR_10,
    differences: [
      'As in the paper: ResNet18 on CIFAR10, 90 iterations, the rates 0.01 and 1, 0.1 % of the entries and 32 samples per worker. Its shortcuts have no weights (11,000,138 parameters), and images are neither cropped nor flipped. Of the numbers of workers only 8 is the paper’s: its text does not give the others. SGD runs without momentum, which the text does not mention.',
      ...COMMON,
    ],
  },
  measure: (records) => {
    const curve = similarityCurve(records, 'residualDistance');
    const missed = similarityCurve(records, 'hammingDistance');
    const end = [ITERATIONS - SPAN, ITERATIONS] as const;
    return {
      values: {
        early: meanOver(curve, 0, SPAN, 'similarity of ranks'),
        late: meanOver(curve, ...end, 'similarity of ranks'),
        overlap: 1 - meanOver(missed, ...end, 'overlap of entries'),
      },
      curve,
    };
  },
  judge: (sweep) => {
    const late = ({ id }: Setting): readonly number[] => sweep.values(id, 'late');
    const growth = ratios(late(atLowRate(MOST)), late(atLowRate(FEWEST)));
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
          `at rate ${LOW} it ends as small with ${MOST} workers as with ${FEWEST}`,
          atMost(growth, { trueAt: ALIKE, scale: 'ratio', format: formatFactor }),
        ),
        claim(
          `at rate ${LOW} the leader chooses 70 % of the truly largest entries`,
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
          `at rate ${HIGH} it ends smaller with β = ${FILTER}`,
          exceedsTimes(late(HIGH_RATE), late(FILTERED), ALIKE),
        ),
      ],
      ours:
        'distance at the end ' +
        SETTINGS.map(
          ({ id, label }) => `${formatQuantity(sweep.mean(id, 'late'))} (${label})`,
        )
          .concat(
            `${formatPercent(sweep.mean(LOW_RATE.id, 'overlap'))} of the truly largest entries chosen (${LOW_RATE.label})`,
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
      'chosen of the largest',
    ],
    rows: SETTINGS.map(({ id, label }) => [
      label,
      formatQuantity(sweep.mean(id, 'early')),
      formatQuantity(sweep.mean(id, 'late')),
      formatPercent(sweep.mean(id, 'overlap')),
    ]),
  }),
};
