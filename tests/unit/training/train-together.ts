/**
 * Data parallel training without processes: the trainers of all ranks in one process,
 * their gradients averaged in rank order by a plain loop.
 */
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';

export interface SmallRun {
  readonly dataset: string;
  readonly dataDirectory?: string | undefined;
  readonly world: number;
  readonly batchPerRank: number;
  readonly lr: number;
  readonly iterations: number;
  readonly seed?: number;
}

export function trainerOptions(run: SmallRun, rank: number): TrainerOptions {
  return {
    model: 'fnn3',
    dataset: run.dataset,
    dataDirectory: run.dataDirectory,
    batchPerRank: run.batchPerRank,
    rank,
    world: run.world,
    seed: run.seed ?? 1,
    backend: 'wasm',
    threads: 1,
    optimizer: { kind: 'sgd', lr: run.lr, momentum: 0.9, schedule: 'constant' },
    iterations: run.iterations,
  };
}

/** One iteration of all ranks; returns the mean loss. */
export async function stepTogether(
  trainers: readonly Trainer[],
  iteration: number,
): Promise<number> {
  const { length } = trainers[0]!;
  const gradient = new Float32Array(length);
  const average = new Float32Array(length);
  let loss = 0;
  for (const trainer of trainers) {
    trainer.loadBatch(iteration);
    loss += (await trainer.computeGradient(gradient)).loss! / trainers.length;
    for (let i = 0; i < length; i++) average[i] = average[i]! + gradient[i]!;
  }
  for (let i = 0; i < length; i++) average[i] = average[i]! / trainers.length;
  for (const trainer of trainers) await trainer.applyGradient(average, iteration);
  return loss;
}

/** A whole run: the last mean loss and the accuracy on the whole test set. */
export async function trainTogether(
  run: SmallRun,
): Promise<{ readonly loss: number; readonly accuracy: number }> {
  const trainers = await Promise.all(
    Array.from({ length: run.world }, (_, rank) =>
      createTrainer(trainerOptions(run, rank)),
    ),
  );
  try {
    let loss = NaN;
    for (let iteration = 0; iteration < run.iterations; iteration++) {
      loss = await stepTogether(trainers, iteration);
    }
    let correct = 0;
    let samples = 0;
    for (const trainer of trainers) {
      const [count, , right] = await trainer.evaluate();
      correct += right!;
      samples += count;
    }
    return { loss, accuracy: correct / samples };
  } finally {
    for (const trainer of trainers) trainer.close();
  }
}
