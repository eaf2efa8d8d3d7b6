/**
 * Copies an array's values to a destination. Published jax-js returns them in a new array
 * buffer, after another hidden copy; in our bundles (scripts/jax-reads.ts) they are copied once.
 * Buffers of a megabyte in every iteration make V8 collect its whole heap every fifteen
 * iterations.
 */
import type { JaxArray } from './jax-runtime.ts';

interface CopiedOut {
  /**
   * Gives `take` the values in the library's memory, valid during the call; on WebAssembly alone.
   */
  dataFor?(take: (values: Float32Array) => void): Promise<void>;
}

/**
 * Consumes the array, whose values are f32.
 * @param copy used if the library's memory is exposed
 */
export async function copyOut(
  array: JaxArray,
  out: Float32Array,
  copy = (to: Float32Array, values: Float32Array): void => {
    to.set(values);
  },
): Promise<void> {
  const copied = array as CopiedOut;
  if (copied.dataFor === undefined) out.set((await array.data()) as Float32Array);
  else {
    await copied.dataFor((values) => {
      copy(out, values);
    });
  }
}
