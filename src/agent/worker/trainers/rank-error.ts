/** What ended a rank, as its failure says it. */
import { failure, toErrorData, type ErrorData } from '../../../shared/errors.ts';

/** As V8 and jax-js refuse memory, which all do by a RangeError. */
const NO_MEMORY =
  /memory32 limit|WebAssembly\.Memory\.grow|Array buffer allocation failed/;

/** `MEMORY_EXHAUSTED` where that is what it was. */
export function rankError(thrown: unknown): ErrorData {
  if (!(thrown instanceof Error) || !isMemory(thrown)) return toErrorData(thrown);
  return failure(
    'MEMORY_EXHAUSTED',
    `the model, its batch and what is computed between need more memory than there is: ${thrown.message}`,
    {
      next:
        'Lower workload.batchPerRank, or train a smaller model. On wasm a rank can have ' +
        '4 GiB; on webgpu what the GPU has.',
    },
  ).toData();
}

/** Of the rank's memory, or of the heap of one of its threads. */
const isMemory = (error: Error & { readonly code?: string }): boolean =>
  error instanceof RangeError
    ? NO_MEMORY.test(error.message)
    : error.code === 'ERR_WORKER_OUT_OF_MEMORY';
