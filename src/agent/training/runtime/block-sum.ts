/**
 * Sums in f32 that stay precise at any length. jax-js adds one element after the other, so a sum of
 * 15 million squares is off by 0.9 %. In blocks, and blocks of blocks, no running sum gets long: the
 * error is that of some hundred additions. Each level is one more pass, over a hundredth of the
 * elements or so.
 *
 * Squares of f32 overflow from 1.8e19 on, so vectors with large elements are made smaller first, by a
 * power of two, which changes no bit of others.
 */
import type { Jax, JaxArray } from './jax-runtime.ts';

const LONGEST = 512;
const SHORTEST = 32;

/** Elements beyond this are made smaller: 2³⁰ squares of it have a sum. */
const LARGE = 2 ** 40;
/** f32 ends at 2¹²⁸, which becomes 2⁴⁸. */
const SMALLER = 2 ** -80;

/** The sum over the last axis. Takes ownership of `values`. */
export const blockSum = (jax: Jax, values: JaxArray): JaxArray =>
  inBlocks(jax, values, (block) => block.sum(-1));

function inBlocks(
  jax: Jax,
  values: JaxArray,
  reduce: (block: JaxArray) => JaxArray,
): JaxArray {
  const length = values.shape.at(-1)!;
  if (length <= LONGEST) return reduce(values);
  const others = values.shape.slice(0, -1);
  const block = blockOf(length);
  const blocks = Math.ceil(length / block);
  const missing = blocks * block - length;
  const widths = [...others.map(() => 0), missing].map((after): [number, number] => [
    0,
    after,
  ]);
  const whole = missing === 0 ? values : jax.numpy.pad(values, widths);
  return inBlocks(jax, reduce(whole.reshape([...others, blocks, block])), reduce);
}

export interface ScaledNorm {
  /** A power of two. */
  readonly scale: JaxArray;
  /** √(Σ (scale·x)²). */
  readonly norm: JaxArray;
}

/** The norm of all elements of some arrays. Takes ownership of none. */
export function scaledNorm(jax: Jax, arrays: readonly JaxArray[]): ScaledNorm {
  const { numpy } = jax;
  const largest = arrays
    .map((array) => {
      const sizes = numpy.abs(array.ref).reshape([-1]);
      return inBlocks(jax, sizes, (block) => block.max(-1));
    })
    .reduce((most, next) => numpy.maximum(most, next));
  const scale = numpy.where(numpy.greater(largest, LARGE), SMALLER, 1);
  const squares = arrays.map((array) => sumOfSquares(jax, array.ref.mul(scale.ref)));
  return { scale, norm: numpy.sqrt(squares.reduce((sum, each) => sum.add(each))) };
}

/** The sum of the squares of all elements, a scalar. Takes ownership of `values`. */
function sumOfSquares(jax: Jax, values: JaxArray): JaxArray {
  return blockSum(jax, jax.numpy.square(values).reshape([-1]));
}

/** The longest block that needs no padding, which jax-js evaluates for every element. */
function blockOf(length: number): number {
  for (let block = LONGEST; block >= SHORTEST; block--) {
    if (length % block === 0) return block;
  }
  return LONGEST;
}
