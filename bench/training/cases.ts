/** The trained models, and the goals: samples a second over PyTorch's, on one thread. */

export interface TrainingCase {
  readonly model: string;
  readonly dataset: string;
  readonly batch: number;
  readonly iterations: number;
  /** Settings of the run. */
  readonly settings: readonly string[];
  readonly parameters: number;
  readonly goal: number;
}

export const TRAINING_CASES: readonly TrainingCase[] = [
  {
    model: 'fnn3',
    batch: 32,
    iterations: 500,
    goal: 1.5,
    parameters: 199_210,
    dataset: 'digits',
    settings: [],
  },
  {
    model: 'lstm-small',
    batch: 16,
    iterations: 200,
    goal: 1.5,
    parameters: 124_160,
    dataset: 'sentences',
    settings: [],
  },
  {
    model: 'resnet-20',
    batch: 32,
    iterations: 30,
    goal: 1,
    parameters: 269_722,
    dataset: 'shapes',
    settings: ['optimizer.lr=0.05'],
  },
];
