/**
 * First values of a model's weights, a function of (seed, tensor): every rank starts
 * from the same bits without exchanging any.
 */
import { purposes, RandomStream } from '../runtime/random-stream.ts';
import { parameterCount, tensorLength, type Model } from './model.ts';

/** All tensors' first values, flat, in the model's order. */
export function initialWeights(
  model: Pick<Model, 'tensors'>,
  seed: number,
): Float32Array<ArrayBuffer> {
  const weights = new Float32Array(parameterCount(model));
  let start = 0;
  for (const [index, tensor] of model.tensors.entries()) {
    const length = tensorLength(tensor);
    tensor.initialize(
      weights.subarray(start, start + length),
      new RandomStream({ seed, bucket: index, purpose: purposes.weights }),
    );
    start += length;
  }
  return weights;
}

/**
 * Mean 0 and deviation √(2 ⁄ fan-in), which keeps the scale of activations through
 * layers with ReLU (He et al., "Delving Deep into Rectifiers", 2015).
 */
export function heInitializer(fanIn: number) {
  const deviation = Math.sqrt(2 / fanIn);
  return (out: Float32Array, random: RandomStream): void => {
    random.bells(out, deviation);
  };
}

/** Zeros: for biases. */
export function zeroInitializer(out: Float32Array): void {
  out.fill(0);
}
