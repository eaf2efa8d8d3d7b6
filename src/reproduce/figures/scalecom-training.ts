/**
 * Shared by ScaleCom's figures of trained models: their cases, and how much worse than
 * uncompressed training one may end before it counts as a loss. Source: ScaleCom, section 4.
 */
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { formatPercent } from '../../shared/words/units.ts';
import type { Case, Figure, Measurement, ResultTable, Setting } from '../figure.ts';
import { atMost, claim, named, type Part, type Test } from '../part.ts';
import { doneOf, metricCurve, required } from '../run-measures.ts';
import { mean, type Sweep } from '../sweep.ts';
import { signedPercent } from '../two-decimals.ts';
import type { TrainedModel } from './scalecom-models.ts';

export interface Variant {
  readonly id: string;
  readonly name: string;
  readonly exchange: (
    model: Pick<TrainedModel, 'compression' | 'iterations'>,
  ) => Readonly<Record<string, unknown>>;
}

export const BASELINE: Variant = {
  id: 'none',
  name: 'uncompressed',
  exchange: () => ({ method: 'none' }),
};

/** @param beta β of the low-pass filter; 1: no filter */
export const scaleCom = (id: string, name: string, beta: number): Variant => ({
  id,
  name,
  exchange: ({ compression, iterations }) => ({
    method: 'scalecom',
    ratio: Number((1 / compression).toPrecision(4)),
    beta,
    warmupIterations: warmUp(iterations),
  }),
});

/** The first iterations, uncompressed and at a growing rate. */
export const warmUp = (iterations: number): number => iterations / 10;

/** The number of workers that the rates are for. */
const STANDARD = 2;

/** A variant's training of a model. */
export const casesOf = (
  models: readonly TrainedModel[],
  variants: readonly Variant[],
  ranks: number,
): readonly Case[] =>
  models.flatMap((model) =>
    variants.map(({ id, name, exchange }) => ({
      id: idOf(model.id, id),
      label: `${model.id}, ${name}`,
      spec: {
        workload: model.workload,
        world: { ranks },
        optimizer: {
          kind: 'sgd',
          lr: (model.lr * ranks) / STANDARD,
          momentum: 0.9,
          schedule: 'cosine',
          warmupIterations: warmUp(model.iterations),
          ...model.optimizer,
        },
        exchange: exchange(model),
        iterations: model.iterations,
        evaluateEvery: model.evaluateEvery,
      },
    })),
  );

/** Settings of both tables. */
export const TRAINING_SETTINGS: readonly Setting[] = [
  {
    text: 'FNN-3 at 92 times, the LSTM at 100 times.',
    because:
      'Tables 2 and 3: 92X for the smallest image set, CIFAR10; 100X for the LSTM in Table 3. (Table 2 has 400X for an LSTM of four bidirectional layers; ours has one.)',
  },
  {
    text: '1,500 iterations (FNN-3) and 2,000 (LSTM).',
    because:
      'Ours: the paper trains for whole schedules. The filter drains a residual in 1/(ratio × β) iterations, 920 and 1,000 at β = 0.1; in fewer, most of the gradient would still be in the residuals at the end, filter or not.',
  },
  {
    text: 'The first tenth uncompressed.',
    because:
      'Section 4: “we use 1-5 warm-up epochs (<10% total training epochs) for compression”; “No compression is applied during the warm-up period.”',
  },
  {
    text: 'SGD with momentum 0.9 (FNN-3, LSTM); the rate grows over the first tenth and then falls along a cosine.',
    because:
      'Section 4: hyper-parameters “including learning rates and momentum” of the networks’ authors, and for large batches of Goyal et al., who have 0.9 and a gradual warm-up. They lower the rate by steps; a cosine needs no choice of steps in so short a training.',
  },
  {
    text: 'Gradients of the LSTM are clipped at a norm of 1, after they are summed.',
    because:
      'Ours, as is common for recurrent networks; it acts on uncompressed training as well.',
  },
];

export const MARGIN_TEXT =
  'Without loss means: relative to uncompressed training with the same seed, the ' +
  'accuracy is lower by at most 0.76 %, or the perplexity higher by at most 1.5 %. These are the largest such ' +
  'losses in the paper’s own tables, which it counts as none: 76.473 to 75.895 % of ImageNet (ResNet50, Table 3), and 27.64 ' +
  'to 27.24 BLEU (Table 2); perplexities are not in its text, so that a share of BLEU counts as one of them is ours.';

/** The measure on the test set at the end of a run, and while it trained. */
export const measureMetric = (records: readonly RunRecord[]): Measurement => ({
  values: { metric: required(doneOf(records).metric, 'measure at its end') },
  curve: metricCurve(records),
});

/** The measure of a network that guesses, by the case. */
export const guessOf =
  (models: readonly TrainedModel[]): NonNullable<Figure['guess']> =>
  (caseId) => ({
    metric: models.find(({ id }) => caseId.startsWith(`${id}-`))!.guess,
  });

export const idOf = (model: string, variant: string): string => `${model}-${variant}`;

/** A model's loss in its metric against uncompressed training, relative, by seed. */
export function losses(sweep: Sweep, model: TrainedModel, variant: Variant): number[] {
  const baseline = sweep.values(idOf(model.id, BASELINE.id), 'metric');
  return sweep
    .values(idOf(model.id, variant.id), 'metric')
    .map((value, index) => relativeLoss(model, value, baseline[index]!));
}

/** Loss of a measure against that of uncompressed training, relative: 0.01 is 1 %. */
export const relativeLoss = (
  { better }: TrainedModel,
  value: number,
  baseline: number,
): number => (better === 'higher' ? 1 - value / baseline : value / baseline - 1);

export const withoutLoss = (
  sweep: Sweep,
  models: readonly TrainedModel[],
  variant: Variant,
): Part =>
  claim(
    `${variant.name} ends without loss`,
    ...models.map((model) =>
      named(model.name, toleratedLoss(model, losses(sweep, model, variant))),
    ),
  );

/** A loss is at most what the paper counts as none. */
export const toleratedLoss = (
  { tolerance }: TrainedModel,
  lost: readonly number[],
): Test => atMost(lost, { trueAt: tolerance, format: formatPercent });

export const oursText = (
  sweep: Sweep,
  models: readonly TrainedModel[],
  variants: readonly Variant[],
): string =>
  models
    .map(
      (model) =>
        `${model.name}: ` +
        variants
          .map(
            ({ id, name }) =>
              `${name} ${model.format(sweep.mean(idOf(model.id, id), 'metric'))}`,
          )
          .join(', '),
    )
    .join('; ');

export const accuracyTable = (
  sweep: Sweep,
  models: readonly TrainedModel[],
  variants: readonly Variant[],
): ResultTable => ({
  columns: ['model and measure', 'training', 'mean', 'least', 'most', 'loss'],
  rows: models.flatMap((model) =>
    variants.map((variant) => {
      const values = sweep.values(idOf(model.id, variant.id), 'metric');
      const isBaseline = variant.id === BASELINE.id;
      return [
        model.name,
        variant.name,
        ...[mean(values), Math.min(...values), Math.max(...values)].map(model.format),
        isBaseline ? '–' : signedPercent(100 * mean(losses(sweep, model, variant))),
      ];
    }),
  ),
});
