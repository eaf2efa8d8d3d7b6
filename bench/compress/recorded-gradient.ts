/**
 * Real gradients: FNN-3's after fifty iterations of training on one rank. On MNIST where
 * its files are ($GRADWIRE_DATA, or ../shared/data), else on the embedded digits; the note
 * says which.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createTrainer } from '../../src/agent/training/create-trainer.ts';
import type { ParameterTensor } from '../../src/agent/training/trainer.ts';

const ITERATIONS = 50;
const root = path.join(import.meta.dirname, '../..');

export interface RecordedGradients {
  /** Gradients of one batch each, by the same weights, as the ranks of a run have them. */
  readonly gradients: readonly Float32Array[];
  readonly tensors: readonly ParameterTensor[];
  readonly note: string;
}

let recorded: Promise<{ values: Float32Array; note: string }> | undefined;

export async function recordGradient(): Promise<{
  values: Float32Array;
  note: string;
}> {
  recorded ??= recordGradients(1).then(({ gradients: [values], note }) => ({
    values: values!,
    note,
  }));
  return await recorded;
}

export async function recordGradients(count: number): Promise<RecordedGradients> {
  const dataDirectory = findMnist();
  const dataset = dataDirectory === undefined ? 'digits' : 'mnist';
  const trainer = await createTrainer({
    model: 'fnn3',
    dataset,
    dataDirectory,
    batchPerRank: 32,
    rank: 0,
    world: 1,
    seed: 1,
    backend: 'wasm',
    threads: 1,
    optimizer: { kind: 'sgd', lr: 0.05, momentum: 0.9, schedule: 'constant' },
    iterations: ITERATIONS,
  });
  try {
    const gradients: Float32Array[] = [];
    for (let iteration = 0; gradients.length < count; iteration++) {
      const values = new Float32Array(trainer.length);
      trainer.loadBatch(iteration);
      await trainer.computeGradient(values);
      if (iteration < ITERATIONS - 1) await trainer.applyGradient(values, iteration);
      else gradients.push(values);
    }
    const { tensors } = trainer;
    return { gradients, tensors, note: `FNN-3 on ${dataset}, iteration ${ITERATIONS}` };
  } finally {
    trainer.close();
  }
}

function findMnist(): string | undefined {
  return [process.env['GRADWIRE_DATA'], path.join(root, '../shared/data')].find(
    (directory) =>
      directory !== undefined &&
      existsSync(directory) &&
      readdirSync(directory).some((file) => file.startsWith('t10k-images-idx3-ubyte')),
  );
}
