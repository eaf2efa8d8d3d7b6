/**
 * Clipping by the norm of the whole gradient (Pascanu, Mikolov and Bengio, "On the difficulty
 * of training recurrent neural networks", 2013): one that is longer than `norm` is scaled
 * down to it, all tensors by the same factor.
 */
import { sumOfSquares } from '../runtime/block-sum.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

/** Takes ownership of the gradients. */
export function clipGradients(
  jax: Jax,
  gradients: readonly JaxArray[],
  norm: number | undefined,
): readonly JaxArray[] {
  if (norm === undefined) return gradients;
  const { numpy } = jax;
  const squares = gradients.map((gradient) => sumOfSquares(jax, gradient.ref));
  const length = numpy.sqrt(squares.reduce((sum, square) => sum.add(square)));
  // As far as a gradient of 0 can be scaled.
  const factor = numpy.minimum(numpy.array(norm).div(numpy.maximum(length, 1e-30)), 1);
  const clipped = gradients.map((gradient) => gradient.mul(factor.ref));
  factor.dispose();
  return clipped;
}
