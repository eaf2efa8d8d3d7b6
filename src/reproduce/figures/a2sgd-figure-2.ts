/**
 * Time to compress a gradient, by method and by the number of its elements. Source: A2SGD,
 * section 3, Figure 2.
 */
import { formatCount, formatDuration } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Case, Figure } from '../figure.ts';
import { faster, LEAST_SPEED_UP, timedClaim } from '../part.ts';
import { iterationsOf, leastTime } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import {
  A2SGD_QSGD_SETTING,
  A2SGD_SHARE_SETTING,
  COMPRESSORS,
  nameOf,
  type MethodId,
} from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

const SIZES = [2 ** 18, 2 ** 21, 2 ** 24];
const LARGEST = SIZES.at(-1)!;
/**
 * Pairs of methods, the cheaper first, in the paper's order of cost, and how many times less
 * counts as less: “much lower” and “slightly”.
 */
const ORDER: readonly (readonly [MethodId, MethodId, number])[] = [
  ['a2sgd', 'qsgd', LEAST_SPEED_UP],
  ['a2sgd', 'topk', LEAST_SPEED_UP],
  ['gaussiank', 'qsgd', LEAST_SPEED_UP],
  ['gaussiank', 'topk', LEAST_SPEED_UP],
  ['a2sgd', 'gaussiank', 1],
];
const ITERATIONS = 200;
/** Gaussian-k has found its estimate, code is compiled, and all memory has been touched by then. */
const FROM = 100;

const idOf = (method: MethodId, n: number): string => `${method}-n${n}`;

const cases: readonly Case[] = SIZES.flatMap((n) =>
  COMPRESSORS.map(({ id, name, exchange }) => ({
    id: idOf(id, n),
    label: `${name}, ${formatCount(n)} elements`,
    spec: {
      workload: {
        model: 'synthetic-gradient',
        dataset: 'none',
        synthetic: { layers: [n], computeMs: 0, overlap: 0 },
        batchPerRank: 1,
      },
      world: { ranks: 2 },
      exchange,
      iterations: ITERATIONS,
      evaluateEvery: 0,
    },
  })),
);

export const a2sgdFigure2: Figure = {
  id: 'a2sgd-figure-2',
  paper: A2SGD,
  number: 'Figure 2',
  title: 'Time to compress a gradient, by its size',
  claim: {
    text:
      'A2SGD and Gaussian-K take much less computation than QSGD and Top-K, and A2SGD slightly ' +
      'less than Gaussian-K, which has to estimate a threshold first.',
    quoted: [
      {
        text: '“A2SGD and Gaussian-K have much lower computation complexity than QSGD and Top-K”; the times are plotted, but the text gives no numbers',
        where: 'section 3, Figure 2',
      },
      {
        text: 'A2SGD O(n), Gaussian-K O(n), Top-K O(n + k log n), QSGD O(n²)',
        where: 'Table 2',
      },
      {
        text: 'A2SGD, Top-K and Gaussian-K use PyTorch on a GPU, and “QSGD is implemented in Numpy”, without a GPU',
        where: 'sections 3 and 4.3',
      },
    ],
  },
  rule:
    `With ${formatCount(LARGEST)} elements, the largest size of the sweep, A2SGD and Gaussian-k each take ` +
    'less time than QSGD and than top-k, by 1.12 times or more, SparCML’s smallest ' +
    'speed-up (section 8.3), as A2SGD’s text has no times; and ' +
    'A2SGD takes less than Gaussian-k, by however little. A time is that of compressing in one iteration ' +
    'on one rank: the shortest of iterations 100 to 199 of both ranks, since other work ' +
    'on the computer only adds to it.',
  settings: [
    A2SGD_QSGD_SETTING,
    {
      text: 'The time to compress; that to decompress is in the table.',
      because:
        'Figure 2 is about “computation complexity” of what is done to a gradient before it is sent (section 3, Table 2), which the text counts without adding the averages to what A2SGD keeps.',
    },
    {
      text: 'Two ranks; 262,144, 2,097,152 and 16,777,216 elements.',
      because:
        'Ours: what a rank does before it sends does not depend on their number, and the sizes of Figure 2 are plotted alone. The largest is about as long as VGG-16’s gradient (Table 1).',
    },
    {
      text: '200 iterations, of which the last hundred count.',
      because:
        'Ours. Gaussian-k’s estimate follows the gradients and its residual, and takes tens of iterations to settle; the paper measures trainings.',
    },
    A2SGD_SHARE_SETTING,
  ],
  history: [
    'Refuted until the last hundred of 200 iterations counted, and compressing alone: Gaussian-k’s estimate had not settled in iterations 2 to 17, QSGD had a scale for each 512 elements, and the computer was busy. Gaussian-k took three times as long as top-k.',
  ],
  differences: [
    'All methods are our own implementations in one language and run on processors; in the paper three ran on a GPU and QSGD did not. Our top-k selects without sorting.',
    'Synthetic, normally distributed gradients in one piece, of up to 16,777,216 elements; the paper does not say which gradients it used.',
    'The paper’s order of costs is that of its implementations: a heap for top-k, NumPy for QSGD.',
  ],
  timed: true,
  seeds: [1, 2, 3, 4, 5],
  cases,
  measure: (records) => {
    const judged = iterationsOf(records).filter(({ iteration }) => iteration >= FROM);
    return {
      values: {
        time: leastTime(judged, ['compress']),
        decompress: leastTime(judged, ['decompress']),
      },
    };
  },
  judge: (sweep) => {
    const time = (method: MethodId): readonly number[] =>
      sweep.values(idOf(method, LARGEST), 'time');
    return {
      parts: ORDER.map(([less, more, factor]) =>
        timedClaim(
          `${nameOf(less)} takes less time than ${nameOf(more)}`,
          faster(time(less), time(more), factor),
        ),
      ),
      ours: COMPRESSORS.map(({ id, name }) => `${name} ${timeText(sweep, id, LARGEST)}`)
        .join(', ')
        .concat(` for ${formatCount(LARGEST)} elements`),
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Time to compress in one iteration, by the number of elements; ' +
      'both axes logarithmic. Means over the seeds; bars span the lowest to the ' +
      'highest value.',
    x: { label: 'elements', scale: 'log' },
    y: { label: 'time (ms)', scale: 'log' },
    series: COMPRESSORS.map(({ id, name }) => ({
      name,
      points: SIZES.map((n) => pointOf(n, sweep.values(idOf(id, n), 'time'))),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'method',
      ...SIZES.map((n) => `n = ${formatCount(n)}`),
      'to decompress the largest',
      'grows with n to the power',
    ],
    rows: COMPRESSORS.map(({ id, name }) => [
      name,
      ...SIZES.map((n) => timeText(sweep, id, n)),
      formatDuration(sweep.mean(idOf(id, LARGEST), 'decompress')),
      exponent(sweep, id).toFixed(2),
    ]),
  }),
};

const timeText = (sweep: Sweep, method: MethodId, n: number): string =>
  formatDuration(sweep.mean(idOf(method, n), 'time'));

/**
 * The power of the length with which time grows, from the second largest size to the largest:
 * 1 is linear, 2 quadratic.
 */
function exponent(sweep: Sweep, method: MethodId): number {
  const before = SIZES.at(-2)!;
  const [less, more] = [before, LARGEST].map((n) =>
    sweep.mean(idOf(method, n), 'time'),
  );
  return Math.log(more! / less!) / Math.log(LARGEST / before);
}
