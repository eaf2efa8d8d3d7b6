/** The arena as a trainer takes it: what it keeps there is allocated by the engine. */
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { ParameterArena } from '../training/arena-parameters.ts';
import type { EngineClient } from './engine/engine-client.ts';

/** @param gradient where the engine expects it */
export function parameterArena(
  engine: EngineClient,
  arena: Arena,
  gradient: Vector,
): ParameterArena {
  return {
    ...{ arena, gradient },
    // The trainer's thread may use those that need no scratch memory.
    kernels: loadWasmKernels(arena),
    allocate: async (length) => (await engine.call('allocate', { length })).vector,
  };
}
