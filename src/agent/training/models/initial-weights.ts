/**
 * Initial weights of a model, a function of seed and tensor: all ranks start with the same bits
 * without an exchange.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import { parameterCount, tensorLength, type Initializer, type Model } from './model.ts';

/**
 * Initial values of tensors, flat, in their order.
 * @param places indices of the tensors in the model; needed where they are only some of its tensors
 */
export function initialWeights(
  model: Pick<Model, 'tensors'>,
  seed: number,
  places?: readonly number[],
): Float32Array<ArrayBuffer> {
  const weights = new Float32Array(parameterCount(model));
  let start = 0;
  for (const [place, tensor] of model.tensors.entries()) {
    const length = tensorLength(tensor);
    initialize(
      tensor.initialize,
      weights.subarray(start, start + length),
      new RandomSequence({
        seed,
        purpose: purposes.weights,
        bucket: places?.[place] ?? place,
      }),
    );
    start += length;
  }
  return weights;
}

function initialize(how: Initializer, out: Float32Array, random: RandomSequence): void {
  if (how === 'zeros') out.fill(0);
  else if (how === 'ones') out.fill(1);
  else if (typeof how === 'function') how(out, random);
  else if ('normal' in how) random.bells(out, how.normal);
  else {
    for (let i = 0; i < out.length; i++) {
      out[i] = random.between(-how.uniform, how.uniform);
    }
  }
}

/**
 * Normal, standard deviation √(2 ⁄ fan-in): keeps the variance of activations through layers
 * with ReLU (He et al., "Delving Deep into Rectifiers", 2015).
 */
export function heInitializer(fanIn: number): Initializer {
  return { normal: Math.sqrt(2 / fanIn) };
}
