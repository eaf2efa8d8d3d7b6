/**
 * The storage of tensors other than tables and of their optimiser state, and the code that
 * moves them: on the device of jax-js (`device-parameters.ts`) or, on the CPU, in the arena
 * (`arena-parameters.ts`). Functions of jax-js take weights from the device either way.
 */
import type { JaxArray } from './runtime/jax-runtime.ts';
import type { ParameterTensor } from './trainer.ts';

/** An averaged gradient: flat, of all tensors; or on the device, by tensor, to be consumed. */
export type AveragedGradient = Float32Array | readonly JaxArray[];

export interface ParameterMemory {
  /** All tensors on the device, in order, for a function to consume. */
  used(): JaxArray[];
  /**
   * One step of the optimiser, done when this resolves.
   * @param rates the learning rate, then the optimiser's factors
   */
  step(gradient: AveragedGradient, rates: readonly number[]): Promise<void>;
  /**
   * Sets which tensors take plain steps. The state of those in `changed` restarts at 0.
   */
  takePlainSteps(plain: readonly boolean[], changed: readonly boolean[]): void;
  /**
   * Copies a tensor out.
   * @param vector which of its state vectors; default: the weights
   */
  read(tensor: number, out: Float32Array, vector?: number): Promise<void>;
  write(tensor: number, values: Float32Array, vector?: number): void;
  close(): void;
}

/** A tensor's values in a flat vector. */
export const sliceOf = (
  flat: Float32Array,
  { start, length }: Pick<ParameterTensor, 'start' | 'length'>,
): Float32Array => flat.subarray(start, start + length);
