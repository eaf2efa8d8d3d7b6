/**
 * A model's tensors as arrays of jax-js, and the flat gradient on the same GPU: copies from
 * one to the other that never leave the device.
 *
 * jax-js cannot make arrays from foreign buffers, but exposes the buffer of an array. So
 * the averaged gradient is written to the buffers of arrays that are created once and kept.
 * To jax-js their values never change, which does no harm: it keeps nothing of an
 * argument's values, and a step that reads them has been submitted before the next average
 * comes (verified with @jax-js/jax 0.1.25).
 *
 * Cost: 4·n bytes of the GPU's memory; a pass over device memory each way.
 */
import type { GpuGradient } from '../sites/gpu-gradient.ts';
import { sliceOf, type GpuVector } from '../kernels/webgpu/gpu-vector.ts';
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';
import type { ParameterTensor } from './trainer.ts';

interface Landing {
  readonly array: JaxArray;
  /** The array's memory. */
  readonly values: GpuVector;
}

export class GpuTensors implements Disposable {
  readonly #jax: Jax;
  readonly #gradient: GpuGradient;
  readonly #tensors: readonly ParameterTensor[];
  #landings: readonly Landing[] | undefined;

  constructor(jax: Jax, gradient: GpuGradient, tensors: readonly ParameterTensor[]) {
    this.#jax = jax;
    this.#gradient = gradient;
    this.#tensors = tensors;
  }

  /**
   * The flat gradient becomes that of the arrays, in the order of the tensors; they are
   * consumed. Enqueued when this resolves, not done.
   */
  async gather(arrays: readonly JaxArray[]): Promise<void> {
    const { gpu, kernels, vector } = this.#gradient;
    const buffers = await Promise.all(arrays.map((array) => array.ref.gpuBuffer()));
    for (const [index, { start, length }] of this.#tensors.entries()) {
      const values = gpu.vectorIn(buffers[index]!, length);
      kernels.elementwise.copy(sliceOf(vector, start, length), values);
    }
    // Before jax-js uses the memory for something else.
    gpu.commands.flush();
    this.#jax.tree.dispose([...arrays]);
  }

  /**
   * The flat gradient as arrays, for the caller to consume; whatever reads them must have been
   * submitted before the next call.
   */
  async scatter(): Promise<JaxArray[]> {
    const { gpu, kernels, vector } = this.#gradient;
    this.#landings ??= await this.#land();
    for (const [index, { start, length }] of this.#tensors.entries()) {
      const { values } = this.#landings[index]!;
      kernels.elementwise.copy(values, sliceOf(vector, start, length));
    }
    gpu.commands.flush();
    return this.#landings.map(({ array }) => array.ref);
  }

  [Symbol.dispose](): void {
    for (const { array } of this.#landings ?? []) array.dispose();
    this.#landings = undefined;
  }

  async #land(): Promise<Landing[]> {
    return await Promise.all(
      this.#tensors.map(async ({ length, shape }) => {
        const array = this.#jax.numpy.array(new Float32Array(length), {
          shape: [...shape],
        });
        const buffer = await array.ref.gpuBuffer();
        return { array, values: this.#gradient.gpu.vectorIn(buffer, length) };
      }),
    );
  }
}
