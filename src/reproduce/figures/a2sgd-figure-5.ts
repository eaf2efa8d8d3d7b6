/**
 * Total time of training with more workers, and the scaling efficiency, by method. Source: A2SGD,
 * section 4.4, Figure 5, and section 4.3, Table 2.
 */
import { formatFactor } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Figure, Setting } from '../figure.ts';
import { exceedsTimes, faster, LEAST_SPEED_UP, named, timedClaim } from '../part.ts';
import { meanRatio, ratios, type Sweep } from '../sweep.ts';
import {
  A2SGD_LAPTOP_CASES,
  A2SGD_PAPER_CASES,
  FEW,
  GRADIENTS,
  LAPTOP_ITERATION_NOTES,
  LAPTOP_ITERATION_SETTINGS,
  LARGE,
  LIGHT,
  MANY,
  measureIteration,
  PAPER_ITERATION_NOTES,
  PAPER_ITERATION_SETTINGS,
  times,
  type Gradient,
} from './a2sgd-iterations.ts';
import { A2SGD_METHODS, nameOf, type MethodId } from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

const COMMON =
  'A total time is that of an iteration, times the iterations of an epoch: with the same batch of each worker, four times as many workers need a quarter of them.';

const SAME_BATCH: Setting = {
  text: 'The batch of a worker stays the same.',
  because:
    'Section 4.3: “the throughput of each algorithm as the number of images processed per second”; Table 1 has one batch size for each model.',
};

export const a2sgdFigure5: Figure = {
  id: 'a2sgd-figure-5',
  paper: A2SGD,
  number: 'Figure 5',
  title: 'Total time of training with more workers',
  claim: {
    text:
      'Although an iteration takes longer with more workers, training takes less time in total with ' +
      'every method. A2SGD and Gaussian-K scale better than dense SGD, QSGD and Top-K.',
    quoted: [
      {
        text: '“Despite the increasing execution time per iteration, all algorithms deliver faster total execution time with more workers”; the times are plotted, but the text gives no numbers',
        where: 'section 4.4, Figure 5',
      },
      {
        text: 'scaling efficiency with 8 workers for FNN-3, VGG-16, ResNet-20 and LSTM-PTB: dense 1.83, 2.34, 2.52, 2.34; QSGD 1.73, 0.66, 2.34, 0.26; Top-K 1.76, 2.40, 1.92, 1.50; Gaussian-K 1.79, 2.97, 2.40, 6.58; A2SGD 1.80, 3.06, 2.50, 6.37',
        where: 'Table 2',
      },
      {
        text: '“A2SGD and Gaussian-K have better scaling efficiency than the other three algorithms”: the throughput with 8 workers, divided by that of dense SGD with 2',
        where: 'section 4.3',
      },
      {
        text: 'on the other hand: by Table 2 dense SGD scales best of all on FNN-3 and ResNet-20',
        where: 'Table 2',
      },
    ],
  },
  rule:
    `Two parts. First: for either gradient and every method training takes less time in total with ${MANY} workers ` +
    `than with ${FEW}. Second: with the large gradient the scaling efficiency of A2SGD and of ` +
    'Gaussian-k is above that of dense, top-k and QSGD; with small ones the paper’s own numbers do not say so. ' +
    'Less and above mean 1.12 times or more, SparCML’s smallest speed-up (section 8.3), as ' +
    'A2SGD’s text has no times.',
  settings: [...LAPTOP_ITERATION_SETTINGS, SAME_BATCH],
  differences: [COMMON, ...LAPTOP_ITERATION_NOTES],
  timed: true,
  // The first took times from one rank.
  measureVersion: 2,
  seeds: [1, 2, 3, 4, 5],
  cases: A2SGD_LAPTOP_CASES,
  full: {
    cases: A2SGD_PAPER_CASES,
    settings: [...PAPER_ITERATION_SETTINGS, SAME_BATCH],
    differences: [COMMON, ...PAPER_ITERATION_NOTES],
  },
  measure: measureIteration,
  judge: (sweep) => ({
    parts: [
      ...GRADIENTS.map((gradient) =>
        timedClaim(
          `${gradient.id} gradient: training takes less time with ${MANY} workers`,
          ...A2SGD_METHODS.map(({ id, name }) =>
            named(
              name,
              faster(
                totals(sweep, id, gradient, MANY),
                totals(sweep, id, gradient, FEW),
              ),
            ),
          ),
        ),
      ),
      ...LIGHT.map((method) =>
        timedClaim(
          `large gradient: ${nameOf(method)} scales better than the other three`,
          ...A2SGD_METHODS.filter(({ id }) => !LIGHT.includes(id)).map(({ id, name }) =>
            named(
              name,
              exceedsTimes(
                efficiency(sweep, method, LARGE),
                efficiency(sweep, id, LARGE),
                LEAST_SPEED_UP,
              ),
            ),
          ),
        ),
      ),
    ],
    ours: GRADIENTS.map(
      (gradient) =>
        `scaling efficiency with the ${gradient.id} gradient: ` +
        A2SGD_METHODS.map(
          ({ id, name }) =>
            `${name} ${formatFactor(meanRatio(efficiency(sweep, id, gradient)))}`,
        ).join(', '),
    ).join('; '),
  }),
  chart: (sweep) => ({
    kind: 'bars',
    caption:
      `Throughput with ${MANY} workers, divided by that of dense SGD with ${FEW}. ` +
      'Means over the seeds; bars span the lowest to the highest value.',
    x: {
      label: 'gradient',
      scale: 'linear',
      categories: GRADIENTS.map(({ id }) => id),
    },
    y: { label: 'scaling efficiency', scale: 'linear' },
    series: A2SGD_METHODS.map(({ id, name }) => ({
      name,
      points: GRADIENTS.map((gradient, index) =>
        pointOf(index, efficiency(sweep, id, gradient)),
      ),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'method',
      ...GRADIENTS.flatMap(({ id }) => [
        `${id}, total with ${MANY} workers`,
        `${id}, scaling efficiency`,
      ]),
    ],
    rows: A2SGD_METHODS.map(({ id, name }) => [
      name,
      ...GRADIENTS.flatMap((gradient) => [
        `${formatFactor(meanRatio(ratios(totals(sweep, id, gradient, MANY), totals(sweep, id, gradient, FEW))))} of ${FEW}`,
        formatFactor(meanRatio(efficiency(sweep, id, gradient))),
      ]),
    ]),
  }),
};

/** Milliseconds for as many samples as one worker has in an iteration, by seed. */
const totals = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
  workers: number,
): readonly number[] =>
  times(sweep, method, gradient, workers).map((time) => time / workers);

/** The throughput with many workers, divided by that of dense SGD with few. Source: section 4.3. */
const efficiency = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
): readonly number[] =>
  ratios(totals(sweep, 'none', gradient, FEW), totals(sweep, method, gradient, MANY));
