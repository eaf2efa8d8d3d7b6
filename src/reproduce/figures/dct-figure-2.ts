/**
 * Thresholds of one layer's gradient over the iterations, by the share left out. Source: DCT,
 * section 2.1, Figure 2.
 */
import { formatPercent, formatQuantity } from '../../shared/words/units.ts';
import { meanCurve } from '../chart/chart.ts';
import type { Case, CurvePoint, Figure } from '../figure.ts';
import { atMost, claim, exceedsTimes, named } from '../part.ts';
import { meanOver, required, thresholdsOf } from '../run-measures.ts';
import type { Sweep } from '../sweep.ts';
import { CRITEO } from './brought-data.ts';
import {
  clickTraining,
  LAPTOP_CLICKS,
  PAPER_CLICK_BATCH,
  PAPER_CLICKS,
} from './click-loss.ts';
import { DCT } from './papers.ts';

/** η in percent. */
const SPARSITIES = [75, 90, 95, 98, 99.5];
/** The share in the paper's example. */
const EXAMPLE = 95;
const LAYER = 'top1.weight';
const ITERATIONS = 300;
/**
 * Window of the running mean, in iterations; the iterations of the first window are not
 * judged.
 */
const WINDOW = 50;
/** A fraction of the running mean: a threshold that strays further varies much. */
const STRAYS = 0.5;
/**
 * A fraction of the iterations: if a kept threshold is renewed more often, keeping it saves
 * little.
 */
const SELDOM = 0.1;
/** The smallest rise of a threshold that counts: a tenth. Ours, as the text has no numbers. */
const RISE = 1.1;
/** Iterations from one point of the chart to the next. */
const DRAWN = 10;

const idOf = (percent: number): string => `eta-${percent}`;
const KEPT = 'kept';

const RANKS = 2;

function casesOf(training: object): readonly Case[] {
  const caseOf = (
    id: string,
    label: string,
    percent: number,
    lifeSpan: number,
  ): Case => ({
    id,
    label,
    spec: {
      ...training,
      iterations: ITERATIONS,
      world: { ranks: RANKS },
      exchange: {
        method: 'dct',
        lifeSpan,
        ratio: Number((1 - percent / 100).toPrecision(6)),
        layers: [{ match: 'embedding', method: 'nonzero' }],
      },
      inspectEvery: 1,
    },
  });
  return [
    ...SPARSITIES.map((percent) =>
      caseOf(idOf(percent), `${percent} % left out`, percent, 1),
    ),
    caseOf(KEPT, `${EXAMPLE} % left out, threshold kept`, EXAMPLE, 1000),
  ];
}

const THRESHOLDS_NOTE =
  'Thresholds are those of rank 0, for the gradient plus the residual, as the method sends them: found again in every iteration, exactly the k-th largest magnitude. The paper may have used a gradient without a residual.';

export const dctFigure2: Figure = {
  id: 'dct-figure-2',
  paper: DCT,
  number: 'Figure 2',
  title: 'Thresholds of a layer over the iterations, by the share left out',
  claim: {
    text:
      'The more of a layer’s gradient is left out, the higher the threshold. For a ' +
      'given share it varies little between iterations, so it need not be found ' +
      'again in each.',
    quoted: [
      {
        text: '“the threshold value increases as the sparsity increases”, and “given a sparsity factor, the threshold value does not vary much across iterations”',
        where: 'section 2.1',
      },
      {
        text: 'for one sparsity the text bounds the deviation around the running mean; both numbers are lost in the text that we have, and the thresholds are only plotted',
        where: 'section 2.1, Figure 2',
      },
      {
        text: '“even for reasonably large compression factors, updating the threshold every iteration is excessive”',
        where: 'section 2.1',
      },
    ],
  },
  rule:
    'Three parts, over iterations 50 to 299. First: with each step, from 75 to 99.5 ' +
    '%, the mean threshold is higher by a tenth or more. Second: for every share no ' +
    'threshold strays from the mean of the 50 before it by more than half of that ' +
    'mean. Third: kept for up to 1,000 iterations at 95 %, the threshold is renewed ' +
    'early in at most a tenth of the iterations. It is renewed early when it would ' +
    'send four times too much or too little. The bounds are ours.',
  differences: [
    'A small DLRM on the embedded click log (20,000 samples), not the paper’s on Criteo’s; 300 iterations of 2 × 128 samples from the first on: the residual still builds up in them, and the thresholds with it.',
    'The layer is the first on top of the interactions, 367 × 64 weights; the paper does not name its layer.',
    THRESHOLDS_NOTE,
  ],
  seeds: [1, 2, 3, 4, 5],
  cases: casesOf(clickTraining(LAPTOP_CLICKS, 128)),
  full: {
    cases: casesOf(clickTraining(PAPER_CLICKS, PAPER_CLICK_BATCH / RANKS)),
    data: CRITEO,
    differences: [
      `The paper’s DLRM on Criteo’s log, by two ranks; batches of ${PAPER_CLICK_BATCH} samples and SGD at a rate of 0.1, as in the benchmark to which its footnote 1 points; categories are hashed to 262,144 rows of one table.`,
      'The first 300 iterations, for which the rule was written: the residual still builds up in them, and the thresholds with it. The paper’s text does not say how many iterations it shows.',
      'The layer is the first on top of the interactions, 367 × 512 weights; the paper does not name its layer.',
      THRESHOLDS_NOTE,
    ],
  },
  measure: (records) => {
    const thresholds = thresholdsOf(records, LAYER);
    const curve = thresholds.map(({ iteration, threshold }) => ({
      x: iteration,
      y: threshold,
    }));
    const judged = thresholds.filter(({ iteration }) => iteration >= WINDOW);
    const renewed = judged.filter(({ age }) => age === 0).length;
    return {
      values: {
        threshold: meanOver(curve, WINDOW, ITERATIONS, `thresholds of ${LAYER}`),
        strays: required(largestDeviation(curve), `thresholds of ${LAYER}`),
        renewed: renewed / judged.length,
      },
      curve: curve.filter(({ x }) => x % DRAWN === 0),
    };
  },
  judge: (sweep) => {
    const threshold = (percent: number): readonly number[] =>
      sweep.values(idOf(percent), 'threshold');
    return {
      parts: [
        claim(
          'the threshold is higher the more is left out',
          ...SPARSITIES.slice(1).map((percent, index) =>
            named(
              `${SPARSITIES[index]!} to ${percent} %`,
              exceedsTimes(threshold(percent), threshold(SPARSITIES[index]!), RISE),
            ),
          ),
        ),
        claim(
          'it does not stray from its running mean by more than half of it',
          ...SPARSITIES.map((percent) =>
            named(
              `${percent} %`,
              atMost(sweep.values(idOf(percent), 'strays'), {
                trueAt: STRAYS,
                format: formatPercent,
              }),
            ),
          ),
        ),
        claim(
          `kept at ${EXAMPLE} % it is renewed in at most a tenth of the iterations`,
          atMost(sweep.values(KEPT, 'renewed'), {
            trueAt: SELDOM,
            format: formatPercent,
          }),
        ),
      ],
      ours:
        'largest deviation from the running mean ' +
        SPARSITIES.map(
          (percent) => `${straysText(sweep, percent)} at ${percent} %`,
        ).join(', ') +
        `; kept at ${EXAMPLE} % the threshold is renewed in ${formatPercent(sweep.mean(KEPT, 'renewed'))} of the iterations`,
    };
  },
  chart: (sweep) => ({
    kind: 'lines',
    caption:
      `Threshold of ${LAYER} on rank 0 in every tenth iteration, a line for each share ` +
      'left out; the vertical axis is logarithmic. Means over the seeds; the band ' +
      'spans the lowest to the highest value.',
    x: { label: 'iteration', scale: 'linear' },
    y: { label: 'threshold', scale: 'log' },
    series: SPARSITIES.map((percent) => ({
      name: `${percent} %`,
      points: meanCurve(sweep.curves(idOf(percent))),
    })),
  }),
  table: (sweep) => ({
    columns: ['left out', 'mean threshold', 'strays by at most'],
    rows: SPARSITIES.map((percent) => [
      `${percent} %`,
      formatQuantity(sweep.mean(idOf(percent), 'threshold')),
      straysText(sweep, percent),
    ]),
  }),
};

/** The largest of all seeds. */
const straysText = (sweep: Sweep, percent: number): string =>
  formatPercent(Math.max(...sweep.values(idOf(percent), 'strays')));

/**
 * The largest distance of a value from the mean of the `WINDOW` values before it,
 * relative to that mean; undefined if the curve is no longer than the window.
 */
export function largestDeviation(curve: readonly CurvePoint[]): number | undefined {
  const deviations = curve.slice(WINDOW).map(({ y }, index) => {
    const before = curve.slice(index, index + WINDOW);
    const running = before.reduce((sum, point) => sum + point.y, 0) / WINDOW;
    return Math.abs(y / running - 1);
  });
  return deviations.length === 0 ? undefined : Math.max(...deviations);
}
