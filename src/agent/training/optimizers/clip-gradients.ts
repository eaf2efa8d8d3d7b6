/**
 * Clipping by the norm of the whole gradient (Pascanu, Mikolov and Bengio, "On the difficulty
 * of training recurrent neural networks", 2013): one that is longer than `norm` is scaled
 * down to it, all tensors by the same factor.
 */
import { scaledNorm } from '../runtime/block-sum.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

/** Takes ownership of the gradients. */
export function clipGradients(
  jax: Jax,
  gradients: readonly JaxArray[],
  norm: number | undefined,
): readonly JaxArray[] {
  if (norm === undefined) return gradients;
  const { numpy } = jax;
  const { scale, norm: length } = scaledNorm(jax, gradients);
  // As far as a gradient of 0 can be scaled.
  const toNorm = numpy.array(norm).div(numpy.maximum(length, 1e-30));
  const factor = numpy.minimum(toNorm, numpy.reciprocal(scale.ref));
  // One after the other: their product may be too small for f32.
  const clipped = gradients.map((gradient) => gradient.mul(scale.ref).mul(factor.ref));
  scale.dispose();
  factor.dispose();
  return clipped;
}
