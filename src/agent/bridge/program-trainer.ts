/** A program as the training loop's trainer: its tensors, and its weights while it is held. */
import { ACCURACY } from '../../shared/records/metric.ts';
import type { EvaluationSums, ParameterTensor, Trainer } from '../training/trainer.ts';
import type { Attach } from './messages.ts';
import type { Program } from './program.ts';

/** The vector of the weights, before those of the optimisers' state. */
const WEIGHTS = 0;

const internal = (what: string): never => {
  throw new Error(`internal: a program ${what} by itself`);
};

export class ProgramTrainer implements Trainer {
  readonly backend = 'torch';
  readonly device: string;
  readonly whyBackend = undefined;
  readonly tensors: readonly ParameterTensor[];
  readonly metric = ACCURACY;
  readonly evaluates = false;
  readonly parameters: number;
  readonly length: number;
  readonly #program: Program;
  #states = 0;
  /** The learning rate of the last step; 0 before the first. */
  rate = 0;

  /** Whether its GradScaler skips steps whose gradients are not finite. */
  readonly scales: boolean;
  /** Names of its models, if they step in turns. */
  readonly turns: readonly string[] | undefined;

  constructor(program: Program, attach: Attach) {
    const { device = 'PyTorch', scaler, turns } = attach;
    this.#program = program;
    this.scales = scaler;
    this.device = device;
    this.turns = turns?.map(({ name }) => name);
    this.tensors = placed(attach);
    this.length = this.tensors.reduce((sum, { length }) => sum + length, 0);
    this.parameters = this.length;
  }

  openGpuGradient(): undefined {
    return undefined;
  }

  loadBatch(): void {
    internal('loads its batches');
  }

  computeGradient(): never {
    return internal('computes its gradients');
  }

  computeFullGradient(): never {
    return internal('computes its gradients');
  }

  applyGradient(): never {
    return internal('applies its gradients');
  }

  takePlainSteps(): void {
    // Its optimiser keeps its momentum: methods with their own are refused.
  }

  learningRate(): number {
    return this.rate;
  }

  evaluate(): Promise<EvaluationSums> {
    return internal('evaluates its model');
  }

  measuresOf(): never {
    return internal('evaluates its model');
  }

  /** Known once weights were read: an optimiser makes its state in its first step. */
  get stateLength(): number {
    return this.#states * this.length;
  }

  async readWeights(out: Float32Array): Promise<void> {
    this.#states = await this.#program.read(WEIGHTS);
    out.set(this.#program.values);
  }

  async *readPieces(most: number): AsyncIterable<Float32Array> {
    this.#states = await this.#program.read(WEIGHTS);
    const { values } = this.#program;
    for (let at = 0; at < values.length; at += most)
      yield values.subarray(at, at + most);
  }

  async writeWeights(weights: Float32Array): Promise<void> {
    this.#program.values.set(weights);
    await this.#program.write(WEIGHTS);
  }

  async readState(out: Float32Array): Promise<void> {
    for (let vector = 1; vector <= this.#states; vector++) {
      await this.#program.read(vector);
      out.set(this.#program.values, (vector - 1) * this.length);
    }
  }

  async writeState(state: Float32Array): Promise<void> {
    for (let vector = 1; vector <= this.#states; vector++) {
      const from = (vector - 1) * this.length;
      this.#program.values.set(state.subarray(from, from + this.length));
      await this.#program.write(vector);
    }
  }

  close(): void {
    // `Program.finish` ends it.
  }
}

/** The tensors one after another, in the program's order. */
function placed({ tensors, turns = [] }: Attach): ParameterTensor[] {
  const models = turns.flatMap((one, model) =>
    new Array<number>(one.tensors).fill(model),
  );
  let start = 0;
  return tensors.map(({ name, shape }, i) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const tensor = { name, shape, start, length, model: models[i] };
    start += length;
    return tensor;
  });
}
