/**
 * A residual network trained with 1 of each 512 entries, compared with dense SGD. Source: SparCML, section
 * 8.4, Figure 5.
 */
import { formatPercent } from '../../shared/words/units.ts';
import { EXTREMES, withExtremes } from '../extremes.ts';
import type { Figure } from '../figure.ts';
import { atMost, claim, control, exceeds, named } from '../part.ts';
import { doneOf, metricCurve, rankMeans, required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { twoDecimals } from '../two-decimals.ts';
import { accuracyChart } from './accuracy-chart.ts';
import { SPARCML } from './papers.ts';

const ITERATIONS = 2000;
/** Number of final iterations over which the training accuracy is averaged. */
const LAST = 200;
/** The paper's difference of the final top-1 accuracies. */
const WITHIN = 0.009;

const largest = (of: number) => ({
  method: 'topk',
  k: 1,
  bucket: of,
  residualUnits: 'update',
});
const DENSE = { id: 'dense', name: 'dense', exchange: { method: 'none' } };
const SPARSE = { id: 'k1', name: '1 of 512', exchange: largest(512) };
const CONTROL = { id: 'control', name: '1 of 32,768', exchange: largest(32_768) };
const VARIANTS = [DENSE, SPARSE, CONTROL];

const MEASURES = [
  ['accuracy', 'test'],
  ['training', 'training'],
] as const;

/** Accuracy of dense SGD minus that of a variant, by seed. */
const behind = (sweep: Sweep, id: string, value: string): readonly number[] => {
  const dense = sweep.values(DENSE.id, value);
  return sweep.values(id, value).map((accuracy, index) => dense[index]! - accuracy);
};

export const sparcmlFigure5: Figure = {
  id: 'sparcml-figure-5',
  paper: SPARCML,
  number: 'Figure 5',
  title: 'A residual network with 1 of each 512 entries, compared with dense SGD',
  claim: {
    text:
      'Trained with the largest of each 512 entries, a wide residual network ends less than 0.9 points below the ' +
      'accuracy of dense SGD, with the same hyper-parameters.',
    quoted: [
      {
        text: '4×ResNet18 on ImageNet, 64 workers, K = 1/512: “the final accuracy of the models differs by less than 0.9% in terms of top-1 accuracy, and less than 0.5% in terms of top-5 accuracy”; 4×ResNet34: 0.8 and 0.4 %',
        where: 'section 8.4, Figure 5',
      },
      {
        text: '“the faster loss reduction of TopK in the earlier stages of training, whereas the improvement saturates and inverts at the end”; the curves are plotted, but the text gives no numbers',
        where: 'section 8.4, Figure 5',
      },
    ],
  },
  rule:
    'Test accuracy is that of the final model, training accuracy the mean over all ranks’ batches of the last 200 of ' +
    '2,000 iterations; both are compared with dense SGD of the same seed. With 1 of 512 either is at most 0.9 points ' +
    'lower. Control: with 1 of 32,768 the test accuracy is more than 0.9 points lower; otherwise these runs ' +
    'could not show a loss, and nothing is confirmed.',
  settings: [
    {
      text: 'The largest of each 512 entries, exact.',
      because:
        'Section 8.4: “TopK SGD, with K = 1/512, that is, on average only the top 0.2% of parameter values are transmitted by each node”. It names no bits for these networks.',
    },
    {
      text: 'Plain SGD: the rate is applied before the entries are chosen, the residual is a sum of updates, and there is no momentum.',
      because:
        'Algorithm 1: “acc ← ε + α∇F”, “v ← v − g”; section 8.4: “no adjustments for sparsity, such as warmup or momentum correction”.',
    },
    {
      text: 'Four workers × 4 images.',
      because:
        'Section 8.4: “Each P100 GPU can only process four images in a batch”. It has 64 workers.',
    },
    {
      text: '2,000 iterations, in which each entry is sent four times.',
      because:
        'Ours: the paper has 70 epochs of batches of 512, which send each entry some 340 times; a laptop has no time for that. Fewer sends favour dense SGD.',
    },
    {
      text: 'A rate of 0.125, divided by 10 after 860 and after 1,720 iterations.',
      because:
        'Appendix D: “a learning rate of 1, which is divided by 10 at 30 and 60 epochs” of 70: the same shares of the iterations. Batches of 512 images have a rate of 1, those of 16 here 0.03 in proportion; four times as much makes up in part for the shorter training. It was chosen for dense SGD alone, by a seed that does not judge.',
    },
  ],
  differences: [
    'ResNet-20 on 8,000 embedded images of shapes (269,722 parameters), not 4×ResNet18 and 4×ResNet34 on ImageNet, to whose width the paper ascribes that so few entries are enough.',
    'Four workers, not 64; top-1 accuracy alone.',
    'Our control sends 1 of each 32,768 entries, with which training must fall behind.',
  ],
  seeds: [11, 12, 13, 14, 15],
  cases: VARIANTS.map(({ id, name, exchange }) => ({
    id,
    label: name,
    spec: {
      workload: { model: 'resnet-20', dataset: 'shapes', batchPerRank: 4 },
      world: { ranks: 4 },
      optimizer: {
        kind: 'sgd',
        lr: 0.125,
        momentum: 0,
        schedule: 'step',
        decayAt: [860, 1720],
      },
      exchange,
      iterations: ITERATIONS,
      evaluateEvery: ITERATIONS / 10,
    },
  })),
  measure: (records) => {
    const end = { from: ITERATIONS - LAST, to: ITERATIONS };
    return {
      values: {
        accuracy: required(doneOf(records).metric, 'accuracy at its end'),
        training: mean(rankMeans(records, end, ({ metric }) => metric, 'metric')),
      },
      curve: metricCurve(records),
    };
  },
  // Ten classes.
  guess: () => ({ accuracy: 0.1, training: 0.1 }),
  judge: (sweep) => ({
    parts: [
      claim(
        `with ${SPARSE.name} the accuracy is at most 0.9 points below dense`,
        ...MEASURES.map(([value, data]) =>
          named(
            data,
            atMost(behind(sweep, SPARSE.id, value), {
              trueAt: WITHIN,
              format: formatPercent,
            }),
          ),
        ),
      ),
      control(
        `with ${CONTROL.name} the test accuracy is more than 0.9 points below dense`,
        exceeds(
          behind(sweep, CONTROL.id, 'accuracy'),
          behind(sweep, DENSE.id, 'accuracy'),
          WITHIN,
          formatPercent,
        ),
      ),
    ],
    ours: `accuracy in test and training: ${VARIANTS.map(
      ({ id, name }) =>
        `${name} ${MEASURES.map(([value]) => formatPercent(sweep.mean(id, value))).join(', ')}`,
    ).join('; ')}`,
  }),
  chart: (sweep) => accuracyChart(sweep, VARIANTS),
  table: (sweep) => ({
    columns: [
      'trained with',
      'accuracy at the end',
      ...EXTREMES,
      'behind dense, points',
    ],
    rows: VARIANTS.flatMap(({ id, name }) =>
      MEASURES.map(([value, data]) => [
        `${name}, ${data}`,
        ...withExtremes(sweep.values(id, value), formatPercent),
        id === DENSE.id ? '–' : twoDecimals(100 * mean(behind(sweep, id, value))),
      ]),
    ),
  }),
};
