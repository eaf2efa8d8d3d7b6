/**
 * The optimiser for the moves of local steps: SGD with momentum, Nesterov's by default, on
 * the host. With rate 1 and no momentum all ranks take the average of their weights.
 *
 *   v ← μ·v + Δ,  w ← w − η·(Δ + μ·v)   (Nesterov; else w ← w − η·v)
 *
 * Δ is the average over ranks of the weights before the local steps minus those after
 * them.
 *
 * Source: DiLoCo (Douillard et al., 2023), Algorithm 1.
 */
import type { OuterSettings } from '../../../shared/spec/parallelism/local-steps.ts';

export class OuterOptimizer {
  readonly #settings: OuterSettings;
  /** One number for each weight; undefined without momentum. */
  readonly velocity: Float32Array | undefined;

  constructor(settings: OuterSettings, length: number) {
    this.#settings = settings;
    this.velocity = settings.momentum === 0 ? undefined : new Float32Array(length);
  }

  /** Updates the weights in place. */
  step(weights: Float32Array, moved: Float32Array): void {
    const { lr, momentum, nesterov } = this.#settings;
    const { velocity } = this;
    if (velocity === undefined) {
      for (let i = 0; i < weights.length; i++) {
        weights[i] = weights[i]! - lr * moved[i]!;
      }
      return;
    }
    for (let i = 0; i < weights.length; i++) {
      const by = moved[i]!;
      const fast = momentum * velocity[i]! + by;
      velocity[i] = fast;
      weights[i] = weights[i]! - lr * (nesterov ? by + momentum * fast : fast);
    }
  }
}
