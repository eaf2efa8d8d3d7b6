/**
 * Sums in f32 that stay precise at any length. jax-js adds one element after the other, so a sum of
 * 15 million squares is off by 0.9 %. In blocks, and blocks of blocks, no running sum gets long: the
 * error is that of some hundred additions. Each level is one more pass, over a hundredth of the
 * elements or so.
 */
import type { Jax, JaxArray } from './jax-runtime.ts';

const LONGEST = 512;
const SHORTEST = 32;

/** The sum over the last axis. Takes ownership of `values`. */
export function blockSum(jax: Jax, values: JaxArray): JaxArray {
  const length = values.shape.at(-1)!;
  if (length <= LONGEST) return values.sum(-1);
  const others = values.shape.slice(0, -1);
  const block = blockOf(length);
  const blocks = Math.ceil(length / block);
  const missing = blocks * block - length;
  const widths = [...others.map(() => 0), missing].map((after): [number, number] => [
    0,
    after,
  ]);
  const whole = missing === 0 ? values : jax.numpy.pad(values, widths);
  return blockSum(jax, whole.reshape([...others, blocks, block]).sum(-1));
}

/** The sum of the squares of all elements, a scalar. Takes ownership of `values`. */
export function sumOfSquares(jax: Jax, values: JaxArray): JaxArray {
  return blockSum(jax, jax.numpy.square(values).reshape([-1]));
}

/** The longest block that needs no padding, which jax-js evaluates for every element. */
function blockOf(length: number): number {
  for (let block = LONGEST; block >= SHORTEST; block--) {
    if (length % block === 0) return block;
  }
  return LONGEST;
}
