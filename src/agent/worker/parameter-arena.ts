/** The arena for a trainer: the engine allocates the trainer's memory there. */
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { ParameterArena } from '../training/arena-parameters.ts';
import type { EngineClient } from './engine/engine-client.ts';

/**
 * @param gradient the engine's input vector
 * @param ownPages whether it has pages of its own, as the trainer's vectors then have
 */
export function parameterArena(
  engine: EngineClient,
  arena: Arena,
  gradient: Vector,
  ownPages: boolean,
): ParameterArena {
  return {
    arena,
    gradient,
    ownPages,
    // The trainer's thread may use only kernels that need no scratch memory.
    kernels: loadWasmKernels(arena),
    allocate: async (length) =>
      (await engine.call('allocate', { length, ownPages })).vector,
  };
}
