/**
 * A model replica on jax-js. Three functions are compiled, each once, with fixed
 * shapes: loss and gradient of a batch; the optimiser's step over all tensors; scores of
 * a block of test samples. Weights and optimiser state stay on the device between
 * iterations; per iteration the batch and the averaged gradient go in, the gradient, the
 * loss and the hits come out. On a GPU the gradient may stay as well: then the batch goes
 * in, the loss and the hits come out.
 *
 * Per iteration no more is allocated here than what jax-js needs for its arrays. On the
 * wasm backend the weights are the same bits on all ranks that start from the same seed
 * and apply the same averaged gradients.
 *
 * jax-js counts references: an array passed to a function is used up, `.ref` keeps it.
 */
import type { RankShard, Samples } from './datasets/dataset.ts';
import { BatchSampler } from './datasets/batch-sampler.ts';
import { GpuGradient } from '../sites/gpu-gradient.ts';
import { scoreClasses } from './classification.ts';
import { GpuTensors } from './gpu-tensors.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import { initialWeights } from './models/initial-weights.ts';
import { tensorLength, type Model } from './models/model.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import type {
  EvaluationResult,
  GradientMemory,
  ParameterTensor,
  StepResult,
  Trainer,
  TrainerOptions,
} from './trainer.ts';

/** Test samples per call of the compiled scores; the last block is padded. */
const evaluationRows = 250;

export interface JaxTrainerParts {
  readonly runtime: JaxRuntime;
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly shard: RankShard;
  readonly options: TrainerOptions;
}

export class JaxTrainer implements Trainer {
  readonly backend: 'wasm' | 'webgpu';
  readonly device: string;
  readonly whyBackend: string | undefined;
  readonly tensors: readonly ParameterTensor[];
  readonly length: number;
  readonly stateLength: number;

  readonly #runtime: JaxRuntime;
  readonly #jax: Jax;
  readonly #options: TrainerOptions;
  readonly #train: RowLoader;
  readonly #test: RowLoader;
  readonly #sampler: BatchSampler;
  readonly #functions: CompiledFunctions;
  /** Tensors on the device; `#state` once per state vector of the optimiser. */
  #weights: JaxArray[];
  #state: JaxArray[][];
  /** Whether a tensor takes plain steps, in their order. */
  #plain: readonly boolean[];
  #update: CompiledUpdate;
  readonly #updates = new Map<string, CompiledUpdate>();
  /** The learning rate, and a 0 that keeps jax-js from compiling it in as a constant. */
  readonly #rate = new Float32Array(2);
  /** The tensors beside the flat gradient on the GPU, where one was asked for. */
  #onGpu: { readonly gradient: GpuGradient; readonly tensors: GpuTensors } | undefined;

  constructor({ runtime, model, optimizer, shard, options }: JaxTrainerParts) {
    this.#runtime = runtime;
    this.#jax = runtime.jax;
    this.backend = runtime.backend;
    this.device = runtime.device;
    this.whyBackend = runtime.why;
    this.#options = options;
    this.tensors = layOut(model);
    this.length = this.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const vectors = optimizer.stateVectors(options.optimizer);
    this.stateLength = vectors * this.length;

    this.#train = new RowLoader(shard.train, model.inputLength, options.batchPerRank);
    this.#test = new RowLoader(shard.test, model.inputLength, evaluationRows);
    this.#sampler = new BatchSampler({
      count: shard.train.count,
      batch: options.batchPerRank,
      seed: options.seed,
      rank: options.rank,
    });
    this.#functions = compile(runtime.jax, model, optimizer, options);
    this.#plain = this.tensors.map(() => false);
    this.#update = this.#updateFor(this.#plain);
    this.#weights = this.#upload(initialWeights(model, options.seed));
    this.#state = Array.from({ length: vectors }, () =>
      this.#upload(new Float32Array(this.length)),
    );
  }

  openGpuGradient(): GpuGradient | undefined {
    if (this.backend !== 'webgpu') return undefined;
    const gradient = new GpuGradient(this.#jax.getWebGPUDevice(), this.length);
    const tensors = new GpuTensors(this.#jax, gradient, this.tensors);
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#onGpu = { gradient, tensors };
    return gradient;
  }

  loadBatch(iteration: number): void {
    this.#sampler.fill(iteration, this.#train.rows);
    this.#train.gather(this.#train.rows.length);
  }

  async computeGradient(gradient: GradientMemory): Promise<StepResult> {
    const [[loss, hits], gradients] = this.#functions.lossAndGradient(
      this.#jax.tree.ref(this.#weights),
      ...this.#train.upload(this.#jax),
    );
    let downloaded: Promise<void> | undefined;
    if (gradient instanceof Float32Array) {
      this.#checkLength(gradient, this.length);
      downloaded = this.#download(gradients, gradient, 0);
    } else {
      // The loss is read behind it: when it is here, so is the gradient.
      await this.#tensorsOf(gradient).gather(gradients);
    }
    const [lossValue, hitCount] = await Promise.all([
      loss.data(),
      hits.data(),
      downloaded,
    ]);
    return {
      loss: lossValue[0]!,
      metric: hitCount[0]! / this.#options.batchPerRank,
    };
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    const averaged =
      gradient instanceof Float32Array
        ? this.#upload(gradient)
        : await this.#tensorsOf(gradient).scatter();
    this.#rate[0] = this.learningRate(iteration);
    const plain = this.#plain;
    const state = this.#state.map((vector) => vector.filter((_, i) => !plain[i]));
    const [weights, next] = this.#update(
      this.#weights,
      state,
      averaged,
      this.#jax.numpy.array(this.#rate),
    );
    this.#weights = weights;
    this.#state = this.#state.map((vector, which) => {
      const moved = next[which]!.values();
      return vector.map((old, i) => (plain[i] === true ? old : moved.next().value!));
    });
    // jax-js is lazy: unasked for, updates would pile up and run in the next step.
    await this.#jax.blockUntilReady([this.#weights, this.#state]);
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    const plain = this.tensors.map(({ name }) => tensors.has(name));
    const changed = plain.map((now, i) => now !== this.#plain[i]);
    if (!changed.includes(true)) return;
    this.#plain = plain;
    this.#update = this.#updateFor(plain);
    this.#state = this.#state.map((vector) =>
      vector.map((velocity, i) => {
        if (changed[i] !== true) return velocity;
        velocity.dispose();
        const { length, shape } = this.tensors[i]!;
        return this.#jax.numpy.array(new Float32Array(length), { shape: [...shape] });
      }),
    );
  }

  learningRate(iteration: number): number {
    const { schedule, lr } = this.#options.optimizer;
    return scheduledRate(schedule, lr, iteration, this.#options.iterations);
  }

  async evaluate(): Promise<EvaluationResult> {
    const test = this.#test;
    const samples = test.samples.count;
    let lossSum = 0;
    let correct = 0;
    for (let first = 0; first < samples; first += evaluationRows) {
      const filled = Math.min(evaluationRows, samples - first);
      for (let row = 0; row < evaluationRows; row++) {
        test.rows[row] = row < filled ? first + row : 0;
      }
      test.gather(filled);
      const [loss, hits] = this.#functions.score(
        this.#jax.tree.ref(this.#weights),
        ...test.upload(this.#jax),
        this.#jax.numpy.array(test.counted),
      );
      const [lossValue, hitCount] = await Promise.all([loss.data(), hits.data()]);
      lossSum += lossValue[0]!;
      correct += hitCount[0]!;
    }
    return { lossSum, correct, samples };
  }

  async readWeights(out: Float32Array): Promise<void> {
    this.#checkLength(out, this.length);
    await this.#download(this.#jax.tree.ref(this.#weights), out, 0);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    this.#checkLength(weights, this.length);
    this.#jax.tree.dispose(this.#weights);
    this.#weights = this.#upload(weights);
    return Promise.resolve();
  }

  async readState(out: Float32Array): Promise<void> {
    this.#checkLength(out, this.stateLength);
    for (const [index, vector] of this.#state.entries()) {
      await this.#download(this.#jax.tree.ref(vector), out, index * this.length);
    }
  }

  writeState(state: Float32Array): Promise<void> {
    this.#checkLength(state, this.stateLength);
    this.#jax.tree.dispose(this.#state);
    this.#state = this.#state.map((_, index) =>
      this.#upload(state.subarray(index * this.length, (index + 1) * this.length)),
    );
    return Promise.resolve();
  }

  close(): void {
    this.#jax.tree.dispose([this.#weights, this.#state]);
    this.#weights = [];
    this.#state = [];
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#runtime.release();
  }

  /** Compiled once for each set of tensors. */
  #updateFor(plain: readonly boolean[]): CompiledUpdate {
    const key = plain.map(Number).join('');
    const update = this.#updates.get(key) ?? this.#functions.update(plain);
    this.#updates.set(key, update);
    return update;
  }

  #tensorsOf(gradient: GpuGradient): GpuTensors {
    if (this.#onGpu?.gradient !== gradient) {
      throw new Error(
        'internal: a gradient on the GPU that this trainer has not opened',
      );
    }
    return this.#onGpu.tensors;
  }

  /** A flat vector as the model's tensors on the device. */
  #upload(flat: Float32Array): JaxArray[] {
    this.#checkLength(flat, this.length);
    return this.tensors.map(({ start, length, shape }) =>
      this.#jax.numpy.array(
        // jax-js only copies the bytes out, which shared memory allows as well.
        flat.subarray(start, start + length) as Float32Array<ArrayBuffer>,
        { shape: [...shape] },
      ),
    );
  }

  /** Tensors of the device, used up, into a flat vector from out[offset] on. */
  async #download(
    arrays: readonly JaxArray[],
    out: Float32Array,
    offset: number,
  ): Promise<void> {
    const values = await Promise.all(arrays.map((array) => array.data()));
    for (const [index, tensor] of this.tensors.entries()) {
      out.set(values[index]!, offset + tensor.start);
    }
  }

  #checkLength(vector: Float32Array, length: number): void {
    if (vector.length !== length) {
      throw new Error(`internal: a vector of ${vector.length}, expected ${length}`);
    }
  }
}

/** Where each tensor lies in the flat gradient. */
function layOut(model: Model): ParameterTensor[] {
  let start = 0;
  return model.tensors.map(({ name, shape }) => {
    const tensor = { name, shape, start, length: tensorLength({ shape }) };
    start += tensor.length;
    return tensor;
  });
}

/** Gathers samples into the fixed-size arrays that the compiled functions take. */
class RowLoader {
  readonly samples: Samples;
  /** Which samples to gather; set by the caller. */
  readonly rows: Uint32Array;
  /** 1 for rows that count, 0 for padding. */
  readonly counted: Float32Array<ArrayBuffer>;
  readonly #inputs: Float32Array<ArrayBuffer>;
  readonly #labels: Int32Array<ArrayBuffer>;
  readonly #length: number;

  constructor(samples: Samples, length: number, rows: number) {
    this.samples = samples;
    this.rows = new Uint32Array(rows);
    this.counted = new Float32Array(rows);
    this.#inputs = new Float32Array(rows * length);
    this.#labels = new Int32Array(rows);
    this.#length = length;
  }

  /** Bytes become 0…1. The first `counted` rows count. */
  gather(counted: number): void {
    const { values, labels } = this.samples;
    const length = this.#length;
    for (let row = 0; row < this.rows.length; row++) {
      const sample = this.rows[row]!;
      const from = sample * length;
      const to = row * length;
      for (let i = 0; i < length; i++) this.#inputs[to + i] = values[from + i]! / 255;
      this.#labels[row] = labels[sample]!;
      this.counted[row] = row < counted ? 1 : 0;
    }
  }

  upload({ numpy }: Jax): [JaxArray, JaxArray] {
    return [
      numpy.array(this.#inputs, { shape: [this.rows.length, this.#length] }),
      numpy.array(this.#labels),
    ];
  }
}

/** State vectors are of those tensors alone that take no plain steps. */
type CompiledUpdate = (
  weights: JaxArray[],
  state: JaxArray[][],
  gradients: JaxArray[],
  rate: JaxArray,
) => [weights: JaxArray[], state: JaxArray[][]];

interface CompiledFunctions {
  lossAndGradient(
    weights: JaxArray[],
    inputs: JaxArray,
    labels: JaxArray,
  ): [[loss: JaxArray, hits: JaxArray], gradients: JaxArray[]];
  /** @param plain whether a tensor takes plain steps */
  update(plain: readonly boolean[]): CompiledUpdate;
  score(
    weights: JaxArray[],
    inputs: JaxArray,
    labels: JaxArray,
    counted: JaxArray,
  ): [lossSum: JaxArray, hits: JaxArray];
}

function compile(
  jax: Jax,
  model: Model,
  optimizer: Optimizer,
  options: TrainerOptions,
): CompiledFunctions {
  const withoutMomentum = { ...options.optimizer, momentum: 0 };
  const meanLoss = (
    weights: JaxArray[],
    inputs: JaxArray,
    labels: JaxArray,
  ): [JaxArray, JaxArray] => {
    const logits = model.logits(jax, weights, inputs);
    const { losses, hits } = scoreClasses(jax, logits, labels);
    return [losses.sum().mul(1 / options.batchPerRank), hits.sum()];
  };
  const updateWith =
    (plain: readonly boolean[]): CompiledUpdate =>
    (weights, state, gradients, rate) => {
      const learningRate = rate.slice(0);
      let place = 0;
      const updates = weights.map((weight, index) => {
        const own = plain[index] === true ? undefined : place++;
        return optimizer.update(
          own === undefined ? withoutMomentum : options.optimizer,
          weight,
          gradients[index]!,
          own === undefined ? [] : state.map((vector) => vector[own]!),
          learningRate.ref,
        );
      });
      learningRate.dispose();
      const moved = updates.filter((_, index) => plain[index] !== true);
      return [
        updates.map((tensor) => tensor.weight),
        state.map((_, vector) => moved.map((tensor) => tensor.state[vector]!)),
      ];
    };
  const score: CompiledFunctions['score'] = (weights, inputs, labels, counted) => {
    const logits = model.logits(jax, weights, inputs);
    const { losses, hits } = scoreClasses(jax, logits, labels);
    return [losses.mul(counted.ref).sum(), hits.mul(counted).sum()];
  };
  return {
    lossAndGradient: jax.jit(
      jax.valueAndGrad(meanLoss, { argnums: 0, hasAux: true }),
    ) as CompiledFunctions['lossAndGradient'],
    update: (plain) => jax.jit(updateWith(plain)) as CompiledUpdate,
    score: jax.jit(score) as CompiledFunctions['score'],
  };
}
