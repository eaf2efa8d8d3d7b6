/** The error that ended a rank, for its report. */
import { failure, toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import { memoryLimit, refusedMemory } from '../../memory/memory-limit.ts';
import { thrownByModelFile } from '../../training/create-trainer.ts';

/** Messages of V8 and jax-js about a lack of memory, which they throw as a RangeError. */
const NO_MEMORY =
  /memory32 limit|WebAssembly\.Memory\.grow|Array buffer allocation failed|could not allocate memory/;

/**
 * `MEMORY_EXHAUSTED` if memory ran out, `ADDRESS_SPACE_LIMITED` or `DATA_SIZE_LIMITED` if a limit
 * may be why, `MODEL_FILE_INVALID` if a user's model threw it.
 */
export function rankError(thrown: unknown): ErrorData {
  if (!(thrown instanceof Error) || !isMemory(thrown)) {
    return toErrorData(thrownByModelFile(thrown));
  }
  const limit = memoryLimit();
  if (limit !== undefined) return refusedMemory('the rank', limit);
  return failure(
    'MEMORY_EXHAUSTED',
    `the model, its batch and the intermediate results need more memory than is available: ${thrown.message}`,
    {
      next:
        'Lower workload.batchPerRank, or train a smaller model. A rank has up to 4 GiB on ' +
        'wasm, and the GPU’s memory on webgpu.',
    },
  ).toData();
}

/** The rank's memory, or the heap of one of its threads. */
const isMemory = (error: Error & { readonly code?: string }): boolean =>
  error instanceof RangeError
    ? NO_MEMORY.test(error.message)
    : error.code === 'ERR_WORKER_OUT_OF_MEMORY';
