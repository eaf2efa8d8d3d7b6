/** The optimisers' steps in plain TypeScript: one element after the other. */
import type { Arena, Vector } from '../../memory/arena.ts';
import type {
  AdagradStep,
  AdamStep,
  DescentStep,
  MomentumStep,
  OptimizationKernels,
} from '../optimization.ts';
import { requireSameLength } from '../preconditions.ts';

const f32 = Math.fround;

export class ReferenceOptimization implements OptimizationKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  descend(weights: Vector, gradient: Vector, step: DescentStep): void {
    const rate = f32(step.rate);
    this.#move(weights, gradient, [], step, (w, g) => w - f32(g * rate));
  }

  descendWithMomentum(
    weights: Vector,
    velocity: Vector,
    gradient: Vector,
    step: MomentumStep,
  ): void {
    const [rate, momentum] = [f32(step.rate), f32(step.momentum)];
    this.#move(weights, gradient, [velocity], step, (w, g, i, [v]) => {
      v![i] = f32(v![i]! * momentum) + g;
      const change = step.nesterov ? f32(g + f32(v![i] * momentum)) : v![i];
      return w - f32(change * rate);
    });
  }

  adagrad(weights: Vector, squares: Vector, gradient: Vector, step: AdagradStep): void {
    const [rate, epsilon] = [f32(step.rate), f32(step.epsilon)];
    this.#move(weights, gradient, [squares], step, (w, g, i, [s]) => {
      s![i] = s![i]! + f32(g * g);
      const root = f32(f32(Math.sqrt(s![i])) + epsilon);
      return w - f32(f32(g * f32(1 / root)) * rate);
    });
  }

  adam(
    weights: Vector,
    mean: Vector,
    square: Vector,
    gradient: Vector,
    step: AdamStep,
  ): void {
    const [rate, epsilon] = [f32(step.rate), f32(step.epsilon)];
    const [beta1, rest1] = [f32(step.beta1), f32(1 - step.beta1)];
    const [beta2, rest2] = [f32(step.beta2), f32(1 - step.beta2)];
    const [ofMean, ofRoot] = [f32(step.ofMean), f32(step.ofRoot)];
    const ofLoss = step.decoupled ? { ...step, weightDecay: 0 } : step;
    const decay = step.decoupled ? f32(step.weightDecay) : 0;
    this.#move(weights, gradient, [mean, square], ofLoss, (before, g, i, [m, v]) => {
      const w = decay === 0 ? before : f32(before - f32(f32(before * rate) * decay));
      m![i] = f32(m![i]! * beta1) + f32(g * rest1);
      v![i] = f32(v![i]! * beta2) + f32(f32(g * g) * rest2);
      const root = f32(f32(f32(Math.sqrt(v![i])) * ofRoot) + epsilon);
      return w - f32(f32(f32(m![i] * ofMean) * f32(1 / root)) * rate);
    });
  }

  /**
   * @param moved returns the new weight for w and g, and updates the state, which is f32
   */
  #move(
    weights: Vector,
    gradient: Vector,
    state: readonly Vector[],
    { factor, weightDecay }: DescentStep,
    moved: (w: number, g: number, i: number, state: readonly Float32Array[]) => number,
  ): void {
    for (const vector of [gradient, ...state]) requireSameLength(weights, vector);
    const vectors = state.map((vector) => this.#arena.f32(vector));
    const values = this.#arena.f32(weights);
    const decay = f32(weightDecay);
    this.#arena.f32(gradient).forEach((given, i) => {
      const w = values[i]!;
      const scaled = f32(given * f32(factor));
      const g = decay === 0 ? scaled : f32(scaled + f32(w * decay));
      values[i] = moved(w, g, i, vectors);
    });
  }
}
