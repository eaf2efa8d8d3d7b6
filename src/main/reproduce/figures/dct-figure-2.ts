/**
 * Thresholds of one layer's gradient over the iterations, by the share that is left out. Source:
 * DCT, section 2.1, Figure 2.
 */
import { formatPercent, formatQuantity } from '../../../shared/units.ts';
import { meanCurve } from '../chart/chart.ts';
import { below, forEverySeed, ofEach } from '../contrast.ts';
import type { Case, CurvePoint, Figure } from '../figure.ts';
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
/** Of the paper's example. */
const EXAMPLE = 95;
const LAYER = 'top1.weight';
const ITERATIONS = 300;
/** Iterations before the first that is judged, over which the running mean goes. */
const WINDOW = 50;
/** Of the running mean: a threshold that strays by more than this varies much. */
const STRAYS = 0.5;
/** Of the iterations: where a kept threshold is renewed more often, keeping it saves little. */
const SELDOM = 0.1;
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
        ...{ method: 'dct', lifeSpan },
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
  'Thresholds are those of rank 0, of the gradient and what was kept back before, as the method sends them: in every iteration found anew, as exactly the k-th largest magnitude. The paper may have looked at a gradient with nothing kept back.';

export const dctFigure2: Figure = {
  id: 'dct-figure-2',
  paper: DCT,
  number: 'Figure 2',
  title: 'Thresholds of a layer over the iterations, by the share that is left out',
  claim: {
    text:
      'The threshold above which a given share of a layer’s gradient lies is higher the more is ' +
      'left out, and varies little from iteration to iteration: so it need not be found anew in ' +
      'each.',
    quoted: [
      {
        text: '“the threshold value increases as the sparsity increases”, and “given a sparsity factor, the threshold value does not vary much across iterations”',
        where: 'section 2.1',
      },
      {
        text: 'for one sparsity the text bounds the deviation around the running mean; both figures are lost in the text that we have, and the thresholds are shown alone',
        where: 'section 2.1, Figure 2',
      },
      {
        text: '“even for reasonably large compression factors, updating the threshold every iteration is excessive”',
        where: 'section 2.1',
      },
    ],
  },
  rule:
    'Three parts, over iterations 50 to 299. First: with each step, from 75 to 99.5 %, the mean ' +
    'threshold is clearly higher: the mean over the seeds of the difference is larger than its ' +
    'spread, the largest less the smallest. Second: for every share and seed no threshold strays from ' +
    'the mean of the 50 before it by more than half of that mean; that one does for every seed is a ' +
    'refutation. Third: kept for up to 1,000 iterations at 95 %, the threshold is renewed early in at ' +
    'most a tenth of the iterations for every seed; more for every seed is a refutation. It is renewed ' +
    'where it would send four times too much or too little. The bounds are ours.',
  differences: [
    'A small DLRM on the embedded click log (20,000 samples), not the paper’s on Criteo’s; 300 iterations of 2 × 128 samples from the first on: what is kept back still builds up in them, and thresholds with it.',
    'The layer is the first on top of the interactions, 367 × 64 weights; the paper does not say which it took.',
    THRESHOLDS_NOTE,
  ],
  seeds: [1, 2, 3],
  cases: casesOf(clickTraining(LAPTOP_CLICKS, 128)),
  full: {
    cases: casesOf(clickTraining(PAPER_CLICKS, PAPER_CLICK_BATCH / RANKS)),
    data: CRITEO,
    differences: [
      `The paper’s DLRM on Criteo’s log, by two ranks; batches of ${PAPER_CLICK_BATCH} samples and the rate of 0.1 are ours, for its text does not state them; categories are hashed to 262,144 rows of one table.`,
      'The first 300 iterations, for which the rule was written: what is kept back still builds up in them, and thresholds with it. How many the paper shows is not in its text.',
      'The layer is the first on top of the interactions, 367 × 512 weights; the paper does not say which it took.',
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
      findings: [
        ofEach(
          'the threshold is higher the more is left out',
          SPARSITIES.slice(1).map((percent, index) => ({
            name: `${SPARSITIES[index]!} to ${percent} %`,
            outcome: below(threshold(SPARSITIES[index]!), threshold(percent)),
          })),
        ),
        ofEach(
          'it does not stray from its running mean by more than half of it',
          SPARSITIES.map((percent) => ({
            name: `${percent} %`,
            outcome: forEverySeed(
              sweep.values(idOf(percent), 'strays'),
              (deviation) => deviation <= STRAYS,
            ),
          })),
        ),
        {
          text: `kept at ${EXAMPLE} % it is renewed in at most a tenth of the iterations`,
          outcome: forEverySeed(
            sweep.values(KEPT, 'renewed'),
            (share) => share <= SELDOM,
          ),
        },
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
      `Threshold of ${LAYER} on rank 0 in every tenth iteration, a line for each share that is ` +
      'left out; the vertical axis is logarithmic. Means over the seeds; the band from the least ' +
      'to the most.',
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

/** Of all seeds. */
const straysText = (sweep: Sweep, percent: number): string =>
  formatPercent(Math.max(...sweep.values(idOf(percent), 'strays')));

/**
 * The largest distance of a value to the mean of the `WINDOW` before it, over that mean;
 * undefined for a curve that is no longer than the window.
 */
export function largestDeviation(curve: readonly CurvePoint[]): number | undefined {
  const deviations = curve.slice(WINDOW).map(({ y }, index) => {
    const before = curve.slice(index, index + WINDOW);
    const running = before.reduce((sum, point) => sum + point.y, 0) / WINDOW;
    return Math.abs(y / running - 1);
  });
  return deviations.length === 0 ? undefined : Math.max(...deviations);
}
