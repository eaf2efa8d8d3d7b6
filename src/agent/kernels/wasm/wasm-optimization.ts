/** The optimisers' steps in SIMD WebAssembly. Source: `assembly/optimization.ts`. */
import type {
  AdagradStep,
  AdamStep,
  DescentStep,
  MomentumStep,
  OptimizationKernels,
} from '../optimization.ts';
import { requireSameLength } from '../preconditions.ts';
import type { Elements } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';

type X = Elements<'x'>;
type Out = Elements<'out'>;

export class WasmOptimization implements OptimizationKernels {
  readonly #pool: KernelPool;

  constructor(pool: KernelPool) {
    this.#pool = pool;
  }

  descend(weights: Out, gradient: X, step: DescentStep): void {
    requireSameLength(weights, gradient);
    const { factor, rate, weightDecay } = step;
    const { length } = weights;
    const run = this.#pool.over(length);
    run.stepPlain(weights.offset, gradient.offset, length, factor, weightDecay, rate);
  }

  descendWithMomentum(
    weights: Out,
    velocity: Out,
    gradient: X,
    { factor, momentum, nesterov, rate, weightDecay }: MomentumStep,
  ): void {
    requireSameLength(weights, gradient);
    requireSameLength(weights, velocity);
    const { length } = weights;
    this.#pool
      .over(length)
      .stepMomentum(
        weights.offset,
        velocity.offset,
        gradient.offset,
        length,
        factor,
        weightDecay,
        momentum,
        Number(nesterov),
        rate,
      );
  }

  adagrad(
    weights: Out,
    squares: Out,
    gradient: X,
    { epsilon, factor, rate, weightDecay }: AdagradStep,
  ): void {
    requireSameLength(weights, gradient);
    requireSameLength(weights, squares);
    const { length } = weights;
    this.#pool
      .over(length)
      .stepAdagrad(
        weights.offset,
        squares.offset,
        gradient.offset,
        length,
        factor,
        weightDecay,
        epsilon,
        rate,
      );
  }

  adam(weights: Out, mean: Out, square: Out, gradient: X, step: AdamStep): void {
    for (const vector of [gradient, mean, square]) requireSameLength(weights, vector);
    const { beta1, beta2, decoupled, rate, weightDecay } = step;
    const { length } = weights;
    this.#pool
      .over(length)
      .stepAdam(
        weights.offset,
        mean.offset,
        square.offset,
        gradient.offset,
        length,
        step.factor,
        decoupled ? 0 : weightDecay,
        decoupled ? weightDecay : 0,
        beta1,
        1 - beta1,
        beta2,
        1 - beta2,
        step.epsilon,
        step.ofMean,
        step.ofRoot,
        rate,
      );
  }
}
