/**
 * Training with k of each 512 entries, in 4 bits or exact, compared with dense SGD: a classifier
 * and an LSTM. Source: SparCML, section 8.3.
 */
import {
  formatCount,
  formatPercent,
  formatQuantity,
} from '../../shared/words/units.ts';
import { meanCurve } from '../chart/chart.ts';
import { below, notAbove } from '../contrast.ts';
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Case, CurvePoint, Figure } from '../figure.ts';
import { rankMeans } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { SPARCML } from './papers.ts';

const ITERATIONS = 200;
/** Number of final iterations over which accuracy and loss are averaged. */
const LAST = 50;
/** Iterations per point of a curve. */
const STEP = 20;
/**
 * Differences that the paper calls the same: a point of accuracy, a hundredth of a
 * loss.
 */
const ALLOWED = 0.01;

const DENSE = 'dense';
const CONTROL = 'control';

interface Variant {
  readonly id: string;
  readonly name: string;
  readonly exchange: Readonly<Record<string, unknown>>;
}

const dense: Variant = { id: DENSE, name: 'dense', exchange: { method: 'none' } };
/** k entries of each run. */
const largest = (k: number, of: number, quantize?: object): Readonly<Variant> => ({
  id: `k${k}`,
  name: `${k} of ${formatCount(of)}${quantize === undefined ? '' : ' in 4 bits'}`,
  exchange: { method: 'topk', k, bucket: of, ...(quantize && { quantize }) },
});
const FOUR_BITS = { bits: 4, bucket: 512 };

const CLASSIFIER = {
  id: 'classifier',
  name: 'classifier',
  variants: [
    dense,
    largest(16, 512, FOUR_BITS),
    largest(8, 512, FOUR_BITS),
    { ...largest(1, 32_768, FOUR_BITS), id: CONTROL },
  ],
  settings: {
    workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 32 },
    world: { ranks: 4 },
    optimizer: { kind: 'sgd', lr: 0.1, momentum: 0.5 },
  },
};
const LANGUAGE = {
  id: 'lstm',
  name: 'LSTM',
  variants: [dense, largest(2, 512), { ...largest(1, 32_768), id: CONTROL }],
  settings: {
    workload: { model: 'lstm-small', dataset: 'sentences', batchPerRank: 16 },
    world: { ranks: 2 },
    optimizer: {
      kind: 'sgd',
      lr: 0.5,
      momentum: 0.9,
      clipNorm: 1,
      warmupIterations: 20,
    },
  },
};
type Task = typeof CLASSIFIER | typeof LANGUAGE;

const idOf = (task: Task, variant: string): string => `${task.id}-${variant}`;

const cases: readonly Case[] = [CLASSIFIER, LANGUAGE].flatMap((task) =>
  task.variants.map(({ id, name, exchange }) => ({
    id: idOf(task, id),
    label: `${task.name}, ${name}`,
    spec: { ...task.settings, exchange, iterations: ITERATIONS, evaluateEvery: 0 },
  })),
);

/** The paper's variants, without dense SGD and our control. */
const tried = ({ variants }: Task): readonly Variant[] =>
  variants.filter(({ id }) => id !== DENSE && id !== CONTROL);
const nameOf = ({ variants }: Task, id: string): string =>
  variants.find((variant) => variant.id === id)!.name;

export const sparcmlFigure4: Figure = {
  id: 'sparcml-figure-4',
  paper: SPARCML,
  number: 'Figure 4',
  title: 'Training with few of each 512 entries, compared with dense SGD',
  claim: {
    text:
      'Trained with 16 or 8 of each 512 entries in 4 bits, a classifier reaches virtually the ' +
      'training accuracy of full precision, and an LSTM with 2 of each 512 its loss within 1 %.',
    quoted: [
      {
        text: 'ResNet-110 on CIFAR-10: with k = 16 of 512 the end accuracy “matches that of the full-precision baseline”; with k = 8 it is 1 % above that of the 32-bit variant; 4-bit values',
        where: 'section 8.3, Figure 4a',
      },
      {
        text: 'an LSTM on ATIS with k = 2 of 512, not quantised: training and test metrics within 1 % of the full-precision baseline',
        where: 'section 8.3, Figure 4b',
      },
      {
        text: 'the curves are plotted, but the text gives no numbers',
        where: 'Figure 4',
      },
    ],
  },
  rule:
    'Training accuracy and loss are means over all ranks’ batches of the last 50 of ' +
    '200 iterations. With 16 and with 8 of 512 the classifier’s accuracy is not ' +
    'clearly more than one point below that of dense SGD with the same seed; with 2 ' +
    'of 512 the LSTM’s loss is not clearly more than 1 % above that of dense SGD. ' +
    'And for both, with 1 of 32,768 it clearly is. “Clearly” means that the mean ' +
    'difference over the seeds is larger than its spread (largest minus smallest). ' +
    'The last part is a control: if the runs could not show a loss, the claim is not ' +
    'confirmed.',
  differences: [
    'FNN-3 on the embedded digits (199,210 parameters, 4 ranks × 32 samples) in place of ResNet-110 on CIFAR-10: a ResNet takes a second an iteration on a laptop.',
    'One LSTM layer that learns sentences byte by byte (124,160 parameters, 2 ranks × 16 windows) in place of an encoder and decoder of two LSTM cells each on ATIS, which is not public. Its loss, not its accuracy.',
    '200 iterations, not 160 and 20 epochs. The losses are still falling at the end, whereas the paper compares converged models.',
    'Our control sends 1 of each 32,768 entries, with which training must fall behind.',
  ],
  seeds: [1, 2, 3],
  cases,
  measure: (records) => {
    const end = { from: ITERATIONS - LAST, to: ITERATIONS };
    const losses = rankMeans(records, end, ({ loss }) => loss, 'loss');
    const metrics = rankMeans(records, end, ({ metric }) => metric, 'metric');
    const all = rankMeans(records, { from: 0 }, ({ loss }) => loss, 'loss');
    return {
      values: { loss: mean(losses), metric: mean(metrics) },
      curve: inSteps(all),
    };
  },
  judge: (sweep) => {
    const accuracy = (id: string): readonly number[] =>
      sweep.values(idOf(CLASSIFIER, id), 'metric');
    const loss = (id: string): readonly number[] =>
      sweep.values(idOf(LANGUAGE, id), 'loss');
    const leastAccuracy = accuracy(DENSE).map((value) => value - ALLOWED);
    const mostLoss = loss(DENSE).map((value) => value * (1 + ALLOWED));
    return {
      findings: [
        ...tried(CLASSIFIER).map(({ id, name }) => ({
          text: `with ${name} the classifier’s accuracy is no more than a point below dense`,
          outcome: notAbove(leastAccuracy, accuracy(id)),
        })),
        ...tried(LANGUAGE).map(({ id, name }) => ({
          text: `with ${name} the LSTM’s loss is no more than 1 % above dense`,
          outcome: notAbove(loss(id), mostLoss),
        })),
        {
          text: `with ${nameOf(CLASSIFIER, CONTROL)} the classifier’s accuracy is more than a point below`,
          outcome: below(accuracy(CONTROL), leastAccuracy),
        },
        {
          text: `with ${nameOf(LANGUAGE, CONTROL)} the LSTM’s loss is more than 1 % above`,
          outcome: below(mostLoss, loss(CONTROL)),
        },
      ],
      ours:
        `accuracy ${CLASSIFIER.variants.map(({ id, name }) => `${name} ${formatPercent(mean(accuracy(id)))}`).join(', ')}; ` +
        `loss of the LSTM ${LANGUAGE.variants.map(({ id, name }) => `${name} ${formatQuantity(mean(loss(id)))}`).join(', ')}`,
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Training loss by iteration, logarithmic, each point a mean over 20 ' +
      'iterations. Means over the seeds; bars span the lowest to the highest value. ' +
      'The controls are in the table.',
    x: { label: 'iterations', scale: 'linear' },
    y: { label: 'training loss', scale: 'log' },
    series: [CLASSIFIER, LANGUAGE].flatMap((task) =>
      [dense, ...tried(task)].map(({ id, name }) => ({
        name: `${task.name}, ${name}`,
        points: meanCurve(sweep.curves(idOf(task, id))),
      })),
    ),
  }),
  table: (sweep) => ({
    columns: ['trained with', 'at the end', ...EXTREMES],
    rows: [
      ...rowsOf(sweep, CLASSIFIER, ['metric', 'accuracy'], formatPercent),
      ...rowsOf(sweep, LANGUAGE, ['loss', 'loss'], formatQuantity),
    ],
  }),
};

const rowsOf = (
  sweep: Sweep,
  task: Task,
  [value, name]: readonly [value: string, name: string],
  format: (value: number) => string,
): readonly (readonly string[])[] =>
  task.variants.map(({ id, name: exchange }) => [
    `${task.name}, ${exchange}: ${name}`,
    ...withExtremes(sweep.values(idOf(task, id), value), format),
  ]);

/** Means over `STEP` iterations, placed at the last of them. */
function inSteps(values: readonly number[]): readonly CurvePoint[] {
  const points: CurvePoint[] = [];
  for (let end = STEP; end <= values.length; end += STEP) {
    points.push({ x: end, y: mean(values.slice(end - STEP, end)) });
  }
  return points;
}
