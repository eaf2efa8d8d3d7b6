/** The models that ScaleCom's figures train. Source: ScaleCom, section 4. */
import { formatPercent, formatQuantity } from '../../shared/words/units.ts';

export interface TrainedModel {
  readonly id: string;
  readonly name: string;
  readonly workload: Readonly<Record<string, unknown>>;
  /** The learning rate with two workers; it scales with the number of workers. */
  readonly lr: number;
  readonly optimizer: Readonly<Record<string, unknown>>;
  /** The factor by which ScaleCom makes the gradient smaller. */
  readonly compression: number;
  readonly iterations: number;
  /** Iterations between two measurements on the test set; 0: at the end alone. */
  readonly evaluateEvery: number;
  readonly better: 'higher' | 'lower';
  /** The largest relative loss of the measure that the paper counts as none. */
  readonly tolerance: number;
  /** The measure of a network that guesses. */
  readonly guess: number;
  readonly format: (metric: number) => string;
}

/** Table 3: ResNet50's 76.473 to 75.895 % of the images. */
const OF_ACCURACY = 0.0076;
/** Table 2: 27.64 to 27.24 BLEU. The text has no perplexities, so that of its translations is taken. */
const OF_PERPLEXITY = 0.015;

export const FNN3: TrainedModel = {
  id: 'fnn3',
  name: 'FNN-3 on digits, accuracy',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 32 },
  lr: 0.05,
  optimizer: {},
  compression: 92,
  iterations: 1500,
  evaluateEvery: 150,
  better: 'higher',
  tolerance: OF_ACCURACY,
  // Ten classes.
  guess: 0.1,
  format: formatPercent,
};

export const RESNET: TrainedModel = {
  id: 'resnet',
  name: 'ResNet-20 on shapes, accuracy',
  workload: { model: 'resnet-20', dataset: 'shapes', batchPerRank: 32 },
  lr: 0.05,
  optimizer: { weightDecay: 0.0001 },
  compression: 92,
  iterations: 300,
  evaluateEvery: 100,
  better: 'higher',
  tolerance: OF_ACCURACY,
  // Ten classes.
  guess: 0.1,
  format: formatPercent,
};

export const LSTM: TrainedModel = {
  id: 'lstm',
  name: 'LSTM on sentences, perplexity',
  workload: { model: 'lstm-small', dataset: 'sentences', batchPerRank: 4 },
  lr: 0.5,
  optimizer: { clipNorm: 1 },
  compression: 100,
  iterations: 2000,
  evaluateEvery: 200,
  better: 'lower',
  tolerance: OF_PERPLEXITY,
  // As many bytes.
  guess: 256,
  format: formatQuantity,
};

export const TRANSFORMER: TrainedModel = {
  id: 'transformer',
  name: 'Transformer on sentences, perplexity',
  workload: { model: 'transformer-small', dataset: 'sentences', batchPerRank: 4 },
  lr: 0.002,
  optimizer: { kind: 'adam', momentum: 0, beta2: 0.98 },
  compression: 47,
  iterations: 1000,
  evaluateEvery: 100,
  better: 'lower',
  tolerance: OF_PERPLEXITY,
  // As many bytes.
  guess: 256,
  format: formatQuantity,
};
