/**
 * An array's values, copied to where they are wanted. Of jax-js as it is published they come as
 * an array buffer that was made for them, after a copy that nobody sees; in our bundles
 * (scripts/jax-reads.ts) they are copied once. Buffers of a megabyte in every iteration are what
 * makes V8 collect all of its heap every fifteen iterations.
 */
import type { JaxArray } from './jax-runtime.ts';

interface CopiedOut {
  /** On WebAssembly: what `take` is given is the library's memory, valid during the call. */
  dataFor?(take: (values: Float32Array) => void): Promise<void>;
}

/** Uses up the array, whose values are f32. */
export async function copyOut(array: JaxArray, out: Float32Array): Promise<void> {
  const { dataFor } = array as CopiedOut;
  if (dataFor === undefined) out.set((await array.data()) as Float32Array);
  else {
    await dataFor.call(array, (values) => {
      out.set(values);
    });
  }
}
