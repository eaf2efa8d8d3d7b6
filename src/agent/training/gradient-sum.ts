/** Gradients of micro-batches, added up on the device. */
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';

export class GradientSum {
  readonly #jax: Jax;
  whole: JaxArray[] = [];
  borrowed: JaxArray[] = [];

  constructor(jax: Jax) {
    this.#jax = jax;
  }

  /** Takes ownership. */
  add(whole: readonly JaxArray[], borrowed: readonly JaxArray[]): void {
    this.whole = this.#added(this.whole, whole);
    this.borrowed = this.#added(this.borrowed, borrowed);
  }

  #added(sums: readonly JaxArray[], more: readonly JaxArray[]): JaxArray[] {
    return sums.length === 0
      ? [...more]
      : more.map((array, i) => this.#jax.numpy.add(sums[i]!, array));
  }
}
