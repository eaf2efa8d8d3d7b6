/**
 * Average time of an iteration, by method, for a small and a large gradient. Source: A2SGD,
 * section 4.4, Figure 4.
 */
import { formatDuration } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import type { Figure } from '../figure.ts';
import { faster, named, notSlower, timedClaim, type Part } from '../part.ts';
import { mean, type Sweep } from '../sweep.ts';
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
  SMALL,
  times,
  WORKERS,
  type Gradient,
} from './a2sgd-iterations.ts';
import { A2SGD_METHODS, nameOf, type MethodId } from './a2sgd-peers.ts';
import { A2SGD } from './papers.ts';

export const a2sgdFigure4: Figure = {
  id: 'a2sgd-figure-4',
  paper: A2SGD,
  number: 'Figure 4',
  title: 'Time of an iteration, by method, for a small and a large gradient',
  claim: {
    text:
      'For small models A2SGD and Gaussian-K take about as long as dense SGD, and ' +
      'slightly less than QSGD and Top-K. For large models they are much faster than ' +
      'dense SGD, Top-K and QSGD. An iteration takes longest with QSGD, and takes ' +
      'longer on more workers with every method.',
    quoted: [
      {
        text: 'FNN-3 and ResNet-20: “perform comparably to dense SGD, and slightly better than QSGD and Top-K”; VGG-16 and LSTM-PTB: “much faster execution time per iteration”; the times are plotted, but the text gives no numbers',
        where: 'section 4.4, Figure 4',
      },
      {
        text: '“the execution per iteration is always the longest for QSGD”',
        where: 'section 4.4',
      },
      {
        text: 'on the other hand: “For the biggest model, Gaussian-K achieves better execution time per iteration than A2SGD”, which the paper attributes to Allgather in place of Allreduce',
        where: 'section 4.4',
      },
      {
        text: 'training LSTM-PTB takes 3.2 times as long with Top-K as with A2SGD, 23.2 times with QSGD, 1.72 times with dense SGD',
        where: 'abstract and section 1',
      },
    ],
  },
  rule:
    `Four parts, the first two with ${MANY} workers. Small gradient: A2SGD and ` +
    'Gaussian-k each take about as long as dense, or less, and less time than top-k ' +
    'and than QSGD. Large gradient: each of them takes less time than dense, top-k ' +
    'and QSGD. Third: for either gradient every other method takes less time than ' +
    `QSGD with ${MANY} workers. Fourth: for either gradient every method takes longer with ` +
    `${MANY} workers than with ${FEW}. Less and longer mean 1.12 times or more, SparCML’s smallest ` +
    'speed-up (section 8.3), as A2SGD’s text has no times; ' +
    'about as long means up to that.',
  settings: LAPTOP_ITERATION_SETTINGS,
  history: [
    'Refuted by times that two busy processors took of eight ranks. Undecided since such times decide nothing: each rank needs a processor.',
  ],
  differences: LAPTOP_ITERATION_NOTES,
  timed: true,
  // The first took times from one rank.
  measureVersion: 2,
  seeds: [1, 2, 3, 4, 5],
  cases: A2SGD_LAPTOP_CASES,
  full: {
    cases: A2SGD_PAPER_CASES,
    settings: PAPER_ITERATION_SETTINGS,
    differences: PAPER_ITERATION_NOTES,
  },
  measure: measureIteration,
  judge: (sweep) => ({
    parts: [
      ...LIGHT.flatMap((method) => [
        timedClaim(
          `small gradient: ${nameOf(method)} does not take longer than dense`,
          notSlower(
            times(sweep, method, SMALL, MANY),
            times(sweep, 'none', SMALL, MANY),
          ),
        ),
        fasterThan(sweep, SMALL, method, ['topk', 'qsgd']),
      ]),
      ...LIGHT.map((method) =>
        fasterThan(sweep, LARGE, method, ['none', 'topk', 'qsgd']),
      ),
      ...GRADIENTS.map((gradient) => slowestIsQsgd(sweep, gradient)),
      ...GRADIENTS.map((gradient) => slowerWithMore(sweep, gradient)),
    ],
    ours: GRADIENTS.map(
      (gradient) =>
        `${gradient.id} gradient with ${MANY} workers: ` +
        A2SGD_METHODS.map(
          ({ id, name }) => `${name} ${timeText(sweep, id, gradient, MANY)}`,
        ).join(', '),
    ).join('; '),
  }),
  chart: (sweep) => ({
    kind: 'bars',
    caption:
      'Time of an iteration, computing included. Means over the seeds; bars span the ' +
      'lowest to the highest value.',
    x: {
      label: 'gradient and workers',
      scale: 'linear',
      categories: GRADIENTS.flatMap(({ id }) =>
        WORKERS.map((workers) => `${id}, ${workers} workers`),
      ),
    },
    y: { label: 'time of an iteration (ms)', scale: 'linear' },
    series: A2SGD_METHODS.map(({ id, name }) => ({
      name,
      points: GRADIENTS.flatMap((gradient, group) =>
        WORKERS.map((workers, index) =>
          pointOf(group * WORKERS.length + index, times(sweep, id, gradient, workers)),
        ),
      ),
    })),
  }),
  table: (sweep) => ({
    columns: [
      'method',
      ...GRADIENTS.flatMap(({ id }) =>
        WORKERS.map((workers) => `${id}, ${workers} workers`),
      ),
    ],
    rows: A2SGD_METHODS.map(({ id, name }) => [
      name,
      ...GRADIENTS.flatMap((gradient) =>
        WORKERS.map((workers) => timeText(sweep, id, gradient, workers)),
      ),
    ]),
  }),
};

const timeText = (
  sweep: Sweep,
  method: MethodId,
  gradient: Gradient,
  workers: number,
): string => formatDuration(mean(times(sweep, method, gradient, workers)));

function fasterThan(
  sweep: Sweep,
  gradient: Gradient,
  method: MethodId,
  others: readonly MethodId[],
): Part {
  const names = others.map(nameOf).join(', ');
  return timedClaim(
    `${gradient.id} gradient: ${nameOf(method)} takes less time than ${names}`,
    ...others.map((other) =>
      named(
        nameOf(other),
        faster(
          times(sweep, method, gradient, MANY),
          times(sweep, other, gradient, MANY),
        ),
      ),
    ),
  );
}

function slowestIsQsgd(sweep: Sweep, gradient: Gradient): Part {
  const qsgd = times(sweep, 'qsgd', gradient, MANY);
  const others = A2SGD_METHODS.filter(({ id }) => id !== 'qsgd');
  return timedClaim(
    `${gradient.id} gradient: QSGD takes longest`,
    ...others.map(({ id, name }) =>
      named(name, faster(times(sweep, id, gradient, MANY), qsgd)),
    ),
  );
}

const slowerWithMore = (sweep: Sweep, gradient: Gradient): Part =>
  timedClaim(
    `${gradient.id} gradient: every method takes longer with ${MANY} workers than with ${FEW}`,
    ...A2SGD_METHODS.map(({ id, name }) =>
      named(
        name,
        faster(times(sweep, id, gradient, FEW), times(sweep, id, gradient, MANY)),
      ),
    ),
  );
