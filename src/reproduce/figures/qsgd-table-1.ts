/**
 * Accuracy with gradients in few bits. Source: QSGD, its experiments and Table 1; the
 * perceptron among its models.
 */
import { formatCount, formatPercent } from '../../shared/words/units.ts';
import { pointOf } from '../chart/chart.ts';
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Case, Figure, Setting } from '../figure.ts';
import { atMost, claim, control, exceeds } from '../part.ts';
import { doneOf, required } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { CIFAR_10 } from './brought-data.ts';
import { QSGD } from './papers.ts';

/**
 * The smaller of the two losses of accuracy that the paper's published text states, and counts
 * as one: 4 bits in buckets of 8,192 lose 0.57 points (top 5) and 0.68 (top 1) on AlexNet.
 */
const LOSS = 0.0057;

const FULL = 'none';
const CONTROL = 'control';
const QUANTISED = [
  { id: 'bits-8', name: '8 bit', exchange: { bits: 8, bucket: 512 } },
  { id: 'bits-4', name: '4 bit', exchange: { bits: 4, bucket: 512 } },
];
/** Settings with which the paper loses accuracy on AlexNet. */
const AGGRESSIVE = [
  {
    id: 'bits-4-large',
    name: '4 bit in buckets of 8,192',
    exchange: { bits: 4, bucket: 8192 },
  },
  { id: 'bits-2', name: '2 bit in buckets of 64', exchange: { bits: 2, bucket: 64 } },
];
const ALL = [
  { id: FULL, name: '32 bit', exchange: { method: 'none' } },
  ...[...QUANTISED, ...AGGRESSIVE].map((one) => ({
    ...one,
    exchange: { ...one.exchange, method: 'qsgd', minElements: 0 },
  })),
  {
    id: CONTROL,
    name: '1 level, ℓ₂',
    exchange: {
      method: 'qsgd',
      levels: 1,
      scale: 'l2',
      bucket: 16_384,
      minElements: 0,
    },
  },
];

const LAPTOP = {
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 16 },
  world: { ranks: 8 },
  optimizer: { kind: 'sgd', lr: 0.1, momentum: 0.5 },
  iterations: 625,
};
/** Iterations of one pass over 50,000 images, 8 × 32 at a time. */
const EPOCH = Math.ceil(50_000 / 256);
const PAPER = {
  workload: { model: 'resnet-110', dataset: 'cifar-10', batchPerRank: 32 },
  world: { ranks: 8 },
  optimizer: {
    kind: 'sgd',
    lr: 0.1,
    momentum: 0.9,
    weightDecay: 0.0001,
    schedule: 'step',
    decayAt: [80 * EPOCH, 120 * EPOCH],
    // The network's authors found 0.1 too large for ResNet-110 at the start.
    warmupIterations: EPOCH,
  },
  iterations: 160 * EPOCH,
};

const casesOf = (training: object): readonly Case[] =>
  ALL.map(({ id, name, exchange }) => ({
    id,
    label: name,
    spec: { ...training, exchange, evaluateEvery: 0 },
  }));

const BUCKETS_NOTE =
  'Buckets of 512 with the largest magnitude as their scale, as in the paper’s experiments. Small tensors are quantised as well.';

const WIDTHS: Setting = {
  text: '8 and 4 bits in buckets of 512, scaled by the largest magnitude.',
  because:
    'Experiments: “4-bit and 8-bit quantization with 512 bucket size”; variants: “we will scale by the maximum value of the vector”.',
};
const LOSING: Setting = {
  text: '4 bits in buckets of 8,192 and 2 bits in buckets of 64.',
  because:
    'Experiments: “more aggressive quantization can hurt accuracy. In particular, 4-bit QSGD with [8,192] bucket size (not shown) loses”; “2-bit and 64 bucket size has gap”.',
};
const FULL_SETTINGS: readonly Setting[] = [
  WIDTHS,
  {
    text: 'Eight ranks × 32 samples.',
    because:
      'Experiments: “QSGD tests are performed on an 8GPU setup”. The batch, 256 for all ranks, is that of SparCML’s Table 3 for this network and data; QSGD’s text gives none.',
  },
  {
    text: `SGD for 160 epochs, ${formatCount(PAPER.iterations)} iterations; a rate of 0.1, divided by 10 after half of the epochs and by 100 after three quarters, with one epoch of warm-up; momentum 0.9, a weight decay of 0.0001.`,
    because:
      'Experiments: “we use the default networks and hyper-parameters optimized for full-precision CNTK 2.0”, which the text does not give. The epochs are SparCML’s Table 3, of CNTK, too; all else is of the network’s authors (He et al.), who found 0.1 too large for ResNet-110 at the start.',
  },
  LOSING,
];

export const qsgdTable1: Figure = {
  id: 'qsgd-table-1',
  paper: QSGD,
  number: 'Table 1',
  title: 'Accuracy of a perceptron with gradients in few bits',
  claim: {
    text: 'Gradients in 4 or 8 bits are enough to reach the accuracy of full precision.',
    quoted: [
      {
        text: '8-bit gradients “have been sufficient to recover or improve upon the full-precision accuracy” in all experiments',
        where: 'Experiments, “Accuracy”',
      },
      {
        text: '“more aggressive quantization can hurt accuracy”: 4 bits in buckets of 8,192 lose 0.57 points on AlexNet, a number that the text we have has lost and the published one has',
        where: 'Experiments, “Accuracy”',
      },
      {
        text: 'the accuracies of Table 1 are lost in the text that we have',
        where: 'Table 1',
      },
    ],
  },
  rule:
    'With 8 and with 4 bits the accuracy at the end is at most 0.57 points below ' +
    'that of full precision with the same seed: the smallest loss of accuracy that ' +
    'the paper’s published text states (4 bits in buckets of 8,192 on AlexNet). A ' +
    'control: with a single level and one ℓ₂ scale for 16,384 elements, whose noise ' +
    'may grow with √n by the paper’s own bound, it is lower by at least as much; ' +
    'otherwise these runs could not show a loss, and nothing is confirmed. The two ' +
    'settings with which the paper’s AlexNet loses are in the table and not in the ' +
    'rule: it says that they “can hurt”, not that they do on a perceptron.',
  settings: [
    WIDTHS,
    {
      text: 'Eight ranks × 16 samples.',
      because:
        'Experiments: “QSGD tests are performed on an 8GPU setup”; the noise of eight ranks averages out as there. The batch is ours.',
    },
    {
      text: 'SGD for 625 iterations, ten passes over the data; a rate of 0.1, momentum 0.5.',
      because:
        'Experiments: “hyper-parameters optimized for the 32bit precision variant”, of CNTK, which the text does not give, run “to full convergence”. These are ours, the same for all precisions.',
    },
    LOSING,
  ],
  differences: [
    'FNN-3 (three layers) on the embedded digits, not two layers on MNIST.',
    BUCKETS_NOTE,
  ],
  // Not those by which the settings were examined before.
  seeds: [11, 12, 13, 14, 15],
  cases: casesOf(LAPTOP),
  full: {
    cases: casesOf(PAPER),
    data: CIFAR_10,
    settings: FULL_SETTINGS,
    title: 'Accuracy of ResNet-110 with gradients in few bits',
    differences: [
      'ResNet-110 on CIFAR-10, one of the paper’s models, as in the paper; its text does not give the perceptron’s size. Images are neither cropped nor flipped, so every accuracy is lower than published ones.',
      BUCKETS_NOTE,
    ],
  },
  keeps: ({ type }) => type === 'done',
  measure: (records) => ({
    values: { accuracy: required(doneOf(records).metric, 'accuracy at its end') },
  }),
  // Ten classes.
  guess: () => ({ accuracy: 0.1 }),
  judge: (sweep) => {
    const full = sweep.values(FULL, 'accuracy');
    return {
      parts: [
        ...QUANTISED.map(({ id, name }) =>
          claim(
            `with ${name} the accuracy is at most 0.57 points below that of full precision`,
            atMost(
              gains(sweep, id).map((points) => -points / 100),
              { trueAt: LOSS, format: formatPercent },
            ),
          ),
        ),
        control(
          'with one level and an ℓ₂ scale for 16,384 elements it is at least as much below',
          exceeds(full, sweep.values(CONTROL, 'accuracy'), LOSS, formatPercent),
        ),
      ],
      ours: ALL.map(
        ({ id, name }) => `${name} ${formatPercent(sweep.mean(id, 'accuracy'))}`,
      ).join(', '),
    };
  },
  chart: (sweep) => ({
    kind: 'bars',
    caption:
      'Accuracy on the test set minus that of full precision with the same seed, in ' +
      'points. Means over the seeds; bars span the lowest to the highest value.',
    x: {
      label: 'gradients in',
      scale: 'linear',
      categories: ALL.slice(1).map(({ name }) => name),
    },
    y: { label: 'difference of accuracy (points)', scale: 'linear' },
    series: [
      {
        name: 'here',
        points: ALL.slice(1).map(({ id }, index) => pointOf(index, gains(sweep, id))),
      },
    ],
  }),
  table: (sweep) => ({
    columns: ['gradients in', 'accuracy', ...EXTREMES],
    rows: ALL.map(({ id, name }) => [
      name,
      ...withExtremes(sweep.values(id, 'accuracy'), formatPercent),
    ]),
  }),
};

/** Points above full precision, by seed. */
function gains(sweep: Sweep, id: string): readonly number[] {
  const full = sweep.values(FULL, 'accuracy');
  return sweep
    .values(id, 'accuracy')
    .map((value, index) => 100 * (value - full[index]!));
}
