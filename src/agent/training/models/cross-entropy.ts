/** Predictions among some classes or tokens: which is right, and their loss. */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

/**
 * −log p of the right one under the softmax of scores, [rows]. Takes ownership of `scores`
 * [rows, classes] and `labels` [rows] (int32).
 */
export function crossEntropy(
  { nn }: Jax,
  scores: JaxArray,
  labels: JaxArray,
): JaxArray {
  const right = nn.oneHot(labels, scores.shape[1]!);
  return nn.logSoftmax(scores).mul(right).sum(1).neg();
}

/**
 * A row for each of `tokens` [rows], 1 in its place and else 0, [rows, count]. jax-js 0.1.25
 * takes rows of an identity matrix instead, which for 10,000 tokens has 400 MB.
 */
export function oneHot({ numpy }: Jax, tokens: JaxArray, count: number): JaxArray {
  const places = numpy.arange(count);
  return numpy.equal(tokens.reshape([-1, 1]), places).astype(numpy.float32);
}
