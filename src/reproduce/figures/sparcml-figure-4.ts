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
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Case, CurvePoint, Figure } from '../figure.ts';
import { atMost, claim, control, exceeds, named, type Test } from '../part.ts';
import { evaluationsOf, rankMeans, required } from '../run-measures.ts';
import { mean, ratios, type Sweep } from '../sweep.ts';
import { SPARCML } from './papers.ts';

const ITERATIONS = 2000;
/** Number of final iterations over which accuracy and loss are averaged. */
const LAST = 50;
/** Iterations per point of a curve. */
const STEP = 100;
/** The paper's “within 1 %”, of losses and of accuracies. */
const WITHIN = 0.01;

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
  exchange: {
    method: 'topk',
    k,
    bucket: of,
    residualUnits: 'update',
    ...(quantize && { quantize }),
  },
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
    optimizer: { kind: 'sgd', lr: 0.2, momentum: 0, schedule: 'linear' },
  },
  // Ten classes.
  guess: { loss: Math.log(10), metric: 0.1 },
};
const LANGUAGE = {
  id: 'lstm',
  name: 'LSTM',
  variants: [dense, largest(2, 512), { ...largest(1, 32_768), id: CONTROL }],
  settings: {
    workload: { model: 'lstm-small', dataset: 'sentences', batchPerRank: 16 },
    world: { ranks: 2 },
    optimizer: { kind: 'sgd', lr: 5, momentum: 0, schedule: 'linear' },
  },
  // As many bytes.
  guess: { loss: Math.log(256), metric: 256 },
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
      'accuracy of full precision, and an LSTM with 2 of each 512 its training and test loss within 1 %.',
    quoted: [
      {
        text: 'ResNet-110 on CIFAR-10: “virtually the same accuracy, both in terms of training and test error”; with k = 16 of 512 the end accuracy “matches that of the full-precision baseline”; with k = 8 it is 1 % above that of the 32-bit variant; 4-bit values',
        where: 'section 8.3, Figure 4a',
      },
      {
        text: 'an LSTM on ATIS with k = 2 of 512, not quantised: “training and test metrics (losses and BLEU scores) are within 1 %” of the full-precision baseline',
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
    '2,000 iterations; test accuracy and loss are those of the final model. All are ' +
    'compared with dense SGD of the same seed. With 16 and with 8 of 512 the ' +
    'classifier’s training and test accuracy are at most one point lower. With 2 of ' +
    '512 the LSTM’s training and test loss are at most 1 % higher. Controls: with 1 ' +
    'of 32,768 the accuracy is at least one point lower, and the loss at least 1 % ' +
    'higher; otherwise these runs could not show a loss, and nothing is confirmed.',
  settings: [
    {
      text: 'Plain SGD: the rate is applied before the entries are chosen, the residual is a sum of updates, and there is no momentum.',
      because: 'Algorithm 1: “acc ← ε + α∇F”, “v ← v − g”. It has no momentum.',
    },
    {
      text: 'LSTM: 2,000 iterations, in which each entry is sent about 8 times.',
      because:
        'Table 3: ATIS, global batch size 560, 20 epochs; with the 56,590 words of its training set these are about 2,000 iterations, and 2 of 512 send each entry 2,000 × 2/512 = 8 times. The number of sends, not of epochs, decides how much is still in the residuals at the end.',
    },
    {
      text: 'Classifier: 2,000 iterations of 128 samples, 32 epochs, in which each entry is sent 62 times with k = 16 and 31 times with k = 8.',
      because:
        'Table 3 has 160 epochs of batches of 256, which send each entry a thousand times; a laptop has no time for that. Fewer sends favour dense SGD.',
    },
    {
      text: 'The rate falls linearly to 0.',
      because:
        'Section 4: “learning rates should be diminishing”. The paper follows the schedules of CNTK’s repository, which its text does not give.',
    },
    {
      text: 'Four ranks × 32 samples (classifier), two ranks × 16 windows of text (LSTM).',
      because:
        'Ours: as many ranks as a laptop runs. Table 3 has batches of 256 (ResNet-110) and 560 (ATIS) over all nodes; section 8.3 names eight nodes, for a speed-up.',
    },
    {
      text: 'Rates of 0.2 (classifier) and 5 (LSTM).',
      because:
        'Ours, chosen for dense SGD alone: those of the earlier set-up with momentum, 0.1 and 0.5, divided by 1 − momentum, which makes steps of the same length. The text gives no rates for these models.',
    },
    {
      text: 'No warm-up and no clipping.',
      because:
        'Section 8.3: “the default hyper-parameters for single-GPU 32-bit full accuracy convergence”; section 8.4: “no adjustments for sparsity, such as warmup or momentum correction”.',
    },
    {
      text: '16 or 8 of 512 in 4 bits, 2 of 512 exact.',
      because:
        'Section 8.3: “k = 8 and 16 entries from every bucket of 512 consecutive elements”, “stochastically quantize the values to 4-bit precision”; “for ATIS we select k = 2”, “using no additional quantization strategy”.',
    },
  ],
  history: [
    'Refuted until the LSTM was trained for 2,000 iterations without momentum: 200 send each entry 0.8 times, where the paper’s send it 8 times, and its loss ended at 2.08, where dense SGD had 1.24.',
  ],
  differences: [
    'FNN-3 on the embedded digits (199,210 parameters, 4 ranks × 32 samples) in place of ResNet-110 on CIFAR-10: a ResNet takes a second an iteration on a laptop.',
    'One LSTM layer that learns sentences byte by byte (124,160 parameters, 2 ranks × 16 windows) in place of an encoder and decoder of two LSTM cells each on ATIS, which is not public.',
    'Our control sends 1 of each 32,768 entries, with which training must fall behind.',
  ],
  // Not those by which the settings were examined before.
  seeds: [11, 12, 13, 14, 15],
  cases,
  measure: (records) => {
    const end = { from: ITERATIONS - LAST, to: ITERATIONS };
    const losses = rankMeans(records, end, ({ loss }) => loss, 'loss');
    const metrics = rankMeans(records, end, ({ metric }) => metric, 'metric');
    const all = rankMeans(records, { from: 0 }, ({ loss }) => loss, 'loss');
    const test = evaluationsOf(records).at(-1);
    return {
      values: {
        loss: mean(losses),
        metric: mean(metrics),
        'test-loss': required(test?.loss, 'test loss at its end'),
        'test-metric': required(test?.metric, 'test measure at its end'),
      },
      curve: inSteps(all),
    };
  },
  guess: (caseId) => {
    const task = [CLASSIFIER, LANGUAGE].find(({ id }) => caseId.startsWith(`${id}-`))!;
    const { loss, metric } = task.guess;
    return { loss, metric, 'test-loss': loss, 'test-metric': metric };
  },
  judge: (sweep) => ({
    parts: [
      ...tried(CLASSIFIER).map(({ id, name }) =>
        claim(
          `with ${name} the classifier’s accuracy is at most a point below dense`,
          ...ACCURACIES.map(([value, data]) =>
            named(
              data,
              atMost(behind(sweep, id, value), {
                trueAt: WITHIN,
                format: formatPercent,
              }),
            ),
          ),
        ),
      ),
      ...tried(LANGUAGE).map(({ id, name }) =>
        claim(
          `with ${name} the LSTM’s loss is at most 1 % above dense`,
          ...LOSSES.map(([value, data]) =>
            named(
              data,
              atMost(above(sweep, id, value), {
                trueAt: WITHIN,
                format: formatPercent,
              }),
            ),
          ),
        ),
      ),
      control(
        `with ${nameOf(CLASSIFIER, CONTROL)} the classifier’s accuracy is a point or more below dense`,
        lost(behind(sweep, CONTROL, 'metric')),
      ),
      control(
        `with ${nameOf(LANGUAGE, CONTROL)} the LSTM’s loss is 1 % or more above dense`,
        lost(above(sweep, CONTROL, 'loss')),
      ),
    ],
    ours:
      `accuracy in training and test: ${CLASSIFIER.variants.map(({ id, name }) => `${name} ${both(sweep, CLASSIFIER, id, ['metric', 'test-metric'], formatPercent)}`).join('; ')}; ` +
      `loss of the LSTM: ${LANGUAGE.variants.map(({ id, name }) => `${name} ${both(sweep, LANGUAGE, id, ['loss', 'test-loss'], formatQuantity)}`).join('; ')}`,
  }),
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      'Training loss by iteration, logarithmic, each point a mean over 100 ' +
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
      ...ACCURACIES.flatMap(([value, data]) =>
        rowsOf(sweep, CLASSIFIER, [value, `accuracy, ${data}`], formatPercent),
      ),
      ...LOSSES.flatMap(([value, data]) =>
        rowsOf(sweep, LANGUAGE, [value, `loss, ${data}`], formatQuantity),
      ),
    ],
  }),
};

const ACCURACIES = [
  ['metric', 'training'],
  ['test-metric', 'test'],
] as const;
const LOSSES = [
  ['loss', 'training'],
  ['test-loss', 'test'],
] as const;

/** Accuracy of dense SGD minus that of a variant, by seed. */
function behind(sweep: Sweep, id: string, value: string): readonly number[] {
  const reference = sweep.values(idOf(CLASSIFIER, DENSE), value);
  return sweep
    .values(idOf(CLASSIFIER, id), value)
    .map((accuracy, index) => reference[index]! - accuracy);
}

/** A variant's loss above that of dense SGD, relative to it, by seed. */
const above = (sweep: Sweep, id: string, value: string): readonly number[] =>
  ratios(
    sweep.values(idOf(LANGUAGE, id), value),
    sweep.values(idOf(LANGUAGE, DENSE), value),
  ).map((ratio) => ratio - 1);

/** A loss that these runs must be able to show. */
const lost = (losses: readonly number[]): Test =>
  exceeds(
    losses,
    losses.map(() => 0),
    WITHIN,
    formatPercent,
  );

const both = (
  sweep: Sweep,
  task: Task,
  id: string,
  [training, test]: readonly [string, string],
  format: (value: number) => string,
): string =>
  `${format(sweep.mean(idOf(task, id), training))}, ${format(sweep.mean(idOf(task, id), test))}`;

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
