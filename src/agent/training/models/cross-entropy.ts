/**
 * Predictions among some classes or tokens: which is right, and their loss. A small loss is as
 * precise as a large one: 1 is added by `log1p` alone, in which nothing is lost.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { blockSum } from '../runtime/block-sum.ts';
import { log1p } from './logarithm.ts';

/**
 * −log p of the right one under the softmax of scores, [rows]. Takes ownership of `scores`
 * [rows, classes] and `labels` [rows] (int32).
 */
export function crossEntropy(jax: Jax, scores: JaxArray, labels: JaxArray): JaxArray {
  const { lax, numpy } = jax;
  const right = isToken(jax, labels, scores.shape[1]!);
  const largest = lax.stopGradient(numpy.max(scores.ref, 1, { keepdims: true }));
  const shifted = scores.sub(largest);
  const powers = numpy.exp(shifted.ref);
  const others = blockSum(jax, numpy.where(right.ref, 0, powers));
  const ofRight = numpy.where(right, shifted, 0).sum(1);
  // Σ − 1, of powers. Where the right score is the largest, this is the sum of the others, to the
  // last bit; elsewhere the loss is not small.
  const beyond = others.add(lessOne(jax, ofRight.ref));
  return log1p(jax, beyond).sub(ofRight);
}

/** log(1 + e⁻ᵐ) of margins m, [rows]: the loss of two classes. Takes ownership of them. */
export function logisticLoss(jax: Jax, margins: JaxArray): JaxArray {
  const { lax, numpy } = jax;
  const shift = lax.stopGradient(numpy.maximum(margins.ref.neg(), 0));
  const ofZero = lessOne(jax, shift.ref.neg());
  const beyond = ofZero.add(numpy.exp(margins.add(shift.ref).neg()));
  return log1p(jax, beyond).add(shift);
}

/**
 * eˣ − 1, exact in 0 and with the precision of eˣ elsewhere: `expm1` would take a longer kernel.
 * @param x consumed
 */
function lessOne({ numpy }: Jax, x: JaxArray): JaxArray {
  const power = numpy.exp(x.ref).sub(1);
  return numpy.where(numpy.equal(x.ref, 0), x, power);
}

/**
 * A row for each of `tokens` [rows], 1 in its place and else 0, [rows, count]. jax-js 0.1.25
 * takes rows of an identity matrix instead, which for 10,000 tokens has 400 MB.
 */
export function oneHot(jax: Jax, tokens: JaxArray, count: number): JaxArray {
  return isToken(jax, tokens, count).astype(jax.numpy.float32);
}

/** [rows, count]: whether a place is that of the row's token. */
function isToken({ numpy }: Jax, tokens: JaxArray, count: number): JaxArray {
  return numpy.equal(tokens.reshape([-1, 1]), numpy.arange(count));
}
