/**
 * The distribution of one worker's gradient, and its change as training goes on. Source: A2SGD,
 * section 3, Figure 1; the first of its two models.
 */
import {
  formatCount,
  formatPercent,
  formatQuantity,
} from '../../shared/words/units.ts';
import { meanCurve, type Chart, type ChartPoint } from '../chart/chart.ts';
import type { Case, CurvePoint, Figure } from '../figure.ts';
import { densityOf, shapeOf, type GradientShape } from '../gradient-histogram.ts';
import { atMost, claim, exceedsTimes } from '../part.ts';
import { required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { MNIST } from './brought-data.ts';
import { A2SGD } from './papers.ts';

const ONLY = 'fnn3';
const BATCH = 128;
const EPOCHS = 30;
/** Images for training: the embedded ones, and MNIST’s. */
const [DIGITS, IMAGES] = [8000, 60_000];
/** Epochs at either end over which a magnitude is averaged. */
const SPAN = 3;
/** Epochs whose histograms are drawn. */
const DRAWN = [1, 10, 20, EPOCHS];
/** The half octaves between which they are: one bin holds what is closer to 0, and less than a hundredth lies beyond. */
const [CLOSEST, FARTHEST] = [-26, -12];
/** The unit of values for which the chart gives percents of the elements. */
const UNIT = 0.001;
/** Deviations within which the normal distribution is drawn. */
const DEVIATIONS = 3;
/** The share of a normal distribution that lies within one deviation of its mean. */
const NORMAL = 0.683;
/** The most by which a share differs from that of the distribution that is claimed. */
const ALIKE = 0.1;
/** The smallest factor by which magnitudes fall: a tenth. */
const CLOSER = 1.1;

/**
 * Runs on a set of images.
 * @param images of its training part
 */
const casesOn = (dataset: string, images: number): readonly Case[] => {
  const epoch = Math.ceil(images / BATCH);
  return [
    {
      id: ONLY,
      label: 'FNN-3',
      spec: {
        workload: { model: 'fnn3', dataset, batchPerRank: BATCH },
        world: { ranks: 1 },
        optimizer: {
          kind: 'sgd',
          lr: 0.01,
          momentum: 0,
          schedule: 'polynomial',
          warmupIterations: 5 * epoch,
        },
        exchange: { method: 'none' },
        iterations: EPOCHS * epoch,
        compareEvery: epoch,
        evaluateEvery: 0,
      },
    },
  ];
};

const epochName = (epoch: number): string => `epoch ${epoch}`;

/** The histograms at the end of some epochs; undefined if a run, as one of earlier versions, has none. */
function histogramsOf(sweep: Sweep): Chart | undefined {
  const deviations = sweep.observed(ONLY, 'deviation');
  const curves = DRAWN.map((epoch) => sweep.named(ONLY, epochName(epoch)));
  if (deviations === undefined || curves.flat().some((curve) => curve.length === 0)) {
    return undefined;
  }
  const series = DRAWN.map((epoch, index) => ({
    name: epochName(epoch),
    // Nothing has a logarithm of its share where a seed has no elements.
    points: meanCurve(curves[index]!, 100 * UNIT).filter(({ low }) => low > 0),
  }));
  const deviation = mean(deviations);
  const normal = series[0]!.points.flatMap(({ x }): readonly ChartPoint[] => {
    if (Math.abs(x) > DEVIATIONS * deviation) return [];
    const density = Math.exp(-((x / deviation) ** 2) / 2) / Math.sqrt(2 * Math.PI);
    const y = (100 * UNIT * density) / deviation;
    return [{ x, y, low: y, high: y }];
  });
  return {
    kind: 'lines',
    caption:
      'The elements of a gradient by their value, at the end of four epochs, and a normal distribution of the ' +
      'same deviation. A point is a bin of the histogram, whose share of the elements is given per 0.001 of its width. ' +
      'Means over the seeds; bands span the lowest to the highest value.',
    x: { label: 'value of an element', scale: 'linear' },
    y: { label: `elements per ${UNIT} (%)`, scale: 'log' },
    series: [...series, { name: 'normal, of the same deviation', points: normal }],
  };
}

/** The median magnitude by epoch, which runs of all versions have. */
const mediansOf = (sweep: Sweep): Chart => ({
  kind: 'lines',
  caption:
    'The magnitude that half of the elements of a gradient do not exceed, by epoch. ' +
    'Means over the seeds; bars span the lowest to the highest value.',
  x: { label: 'epoch', scale: 'linear' },
  y: { label: 'median magnitude', scale: 'log' },
  series: [{ name: 'FNN-3', points: meanCurve(sweep.curves(ONLY)) }],
});

/** @param images of the training part */
const settingsOn = (images: number): Figure['settings'] => [
  {
    text: `SGD for 30 epochs of batches of ${BATCH}, ${formatCount(EPOCHS * Math.ceil(images / BATCH))} iterations; a rate of 0.01 with gradual warm-up over five epochs and polynomial decay.`,
    because:
      'Section 4.2: “30 epochs for FNN-3”; Table 1: a batch of 128, a rate of 0.01 and “LS(1 x) + GW + PD”. The text gives neither the length of the warm-up nor the power of the decay: five epochs and 2 are ours.',
  },
  {
    text: 'No momentum.',
    because: 'Ours: neither Table 1 nor Algorithm 1 has any.',
  },
  {
    text: 'One worker.',
    because:
      'Section 3: “These distribution plots from one representative worker”. The text does not say of how many; alone, its gradient is what is applied.',
  },
  {
    text: 'The deviation is the root of the mean square, around 0.',
    because: 'Section 3 speaks of “the center around zero”.',
  },
];

const DIFFERENCES = [
  'One worker alone; in the paper it is one of several.',
  'The gradient of one batch at the end of each epoch; the paper’s iterations are in its plot only.',
  'Elements that are exactly 0 are left out: a pixel that is dark in every image has no gradient, whatever the distribution of the others.',
];

export const a2sgdFigure1: Figure = {
  id: 'a2sgd-figure-1',
  paper: A2SGD,
  number: 'Figure 1',
  title: 'Distribution of a gradient while FNN-3 trains',
  claim: {
    text:
      'Most elements of a gradient are close to zero on either side, as in a normal ' +
      'distribution. As training goes on, more of them come closer to it.',
    quoted: [
      {
        text: '“Most of the values are close on either side of zero, following a normal distribution”',
        where: 'section 3',
      },
      {
        text: '“as the models finish more iterations of the training, more gradient values are converging to the center around zero”',
        where: 'section 3',
      },
      {
        text: 'the histograms of FNN-3 and ResNet-20 are plotted, but the text gives no numbers',
        where: 'Figure 1',
      },
    ],
  },
  rule:
    'Three parts. First: the share of the elements within one standard deviation of 0 is ' +
    'that of a normal distribution, 68.3 %, within ten points; a Laplace distribution, whose peak is sharp, has ' +
    '75.7 %. Second: half of the elements are above 0, within ten points. Both are means over the ' +
    'epochs. Third: the magnitude that half of the elements do not exceed is smaller over the last three of ' +
    '30 epochs than over the first three, by a tenth or more. The bounds are ours: the text gives none.',
  settings: settingsOn(DIGITS),
  differences: [
    'FNN-3 on the embedded digits (8,000 drawn images), not MNIST; no ResNet-20.',
    ...DIFFERENCES,
  ],
  // Not the one by which the measures were examined before.
  seeds: [11, 12, 13, 14, 15],
  cases: casesOn('digits', DIGITS),
  full: {
    cases: casesOn('mnist', IMAGES),
    data: MNIST,
    settings: settingsOn(IMAGES),
    differences: ['FNN-3 on MNIST, as in the paper; no ResNet-20.', ...DIFFERENCES],
  },
  measure: (records) => {
    const shapes = records
      .filter((record) => record.type === 'comparison')
      .flatMap(({ uncompressed }) => {
        if (uncompressed === undefined) return [];
        const shape = shapeOf(uncompressed);
        return shape === undefined ? [] : [{ histogram: uncompressed, ...shape }];
      });
    const meanOf = (from: number, to: number | undefined, key: keyof GradientShape) => {
      const some = shapes.slice(from, to).map(({ [key]: value }) => value);
      return required(some.length === 0 ? undefined : mean(some), 'magnitudes');
    };
    return {
      values: {
        within: meanOf(0, undefined, 'within'),
        positive: meanOf(0, undefined, 'positive'),
        early: meanOf(0, SPAN, 'median'),
        late: meanOf(-SPAN, undefined, 'median'),
        deviation: meanOf(0, undefined, 'deviation'),
      },
      curve: shapes.map(({ median }, index): CurvePoint => ({
        x: index + 1,
        y: median,
      })),
      curves: Object.fromEntries(
        DRAWN.flatMap((epoch) => {
          const shape = shapes[epoch - 1];
          if (shape === undefined) return [];
          return [[epochName(epoch), densityOf(shape.histogram, CLOSEST, FARTHEST)]];
        }),
      ),
    };
  },
  judge: (sweep) => {
    const [within, positive] = [
      sweep.values(ONLY, 'within'),
      sweep.values(ONLY, 'positive'),
    ];
    const [early, late] = [sweep.values(ONLY, 'early'), sweep.values(ONLY, 'late')];
    const near = (shares: readonly number[], share: number) =>
      atMost(
        shares.map((value) => Math.abs(value - share)),
        { trueAt: ALIKE, format: formatPercent },
      );
    return {
      parts: [
        claim(
          'as in a normal distribution, 68.3 % of the elements are within a deviation of 0',
          near(within, NORMAL),
        ),
        claim('half of the elements are above 0', near(positive, 0.5)),
        claim(
          'half of the elements are closer to 0 at the end than at first',
          exceedsTimes(early, late, CLOSER),
        ),
      ],
      ours:
        `${formatPercent(mean(within))} of the elements within a deviation of 0, ` +
        `${formatPercent(mean(positive))} above it; half of them within ` +
        `${formatQuantity(mean(early))} over the first three epochs, ` +
        `${formatQuantity(mean(late))} over the last three`,
    };
  },
  chart: (sweep) => histogramsOf(sweep) ?? mediansOf(sweep),
  table: (sweep) => ({
    columns: [
      'model',
      'within a deviation',
      'above 0',
      'median magnitude, first',
      'last',
    ],
    rows: [
      [
        'FNN-3',
        formatPercent(sweep.mean(ONLY, 'within')),
        formatPercent(sweep.mean(ONLY, 'positive')),
        formatQuantity(sweep.mean(ONLY, 'early')),
        formatQuantity(sweep.mean(ONLY, 'late')),
      ],
    ],
  }),
};
