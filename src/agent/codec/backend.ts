/**
 * The kernel backends by name, each on an arena of its own, as what makes compressors for
 * vectors in that arena. On a GPU a vector is taken there and back, and methods that the
 * GPU has no way to do are refused by name.
 */
import type { JsonObject } from '../../shared/json.ts';
import type {
  Compressor,
  CompressorContext,
  MethodDefinition,
} from '../compression/method.ts';
import { Arena } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { referenceKernels } from '../kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';

const CPU_BACKENDS = ['reference', 'wasm'] as const;
export const BACKENDS = [...CPU_BACKENDS, 'webgpu'] as const;
export type CpuBackendName = (typeof CPU_BACKENDS)[number];
export type BackendName = (typeof BACKENDS)[number];

export interface Backend extends Disposable {
  readonly name: BackendName;
  readonly arena: Arena;
  /** The CPU's, whatever makes the payloads. */
  readonly kernels: Kernels;
  /** @throws GradwireError `BACKEND_UNAVAILABLE` where it has no way to do it */
  create(method: MethodDefinition, context: CompressorContext<JsonObject>): Compressor;
}

/**
 * `reference`: plain TypeScript, slow. `wasm`: the CPU's SIMD. `webgpu`: a GPU, by Dawn.
 * @throws GradwireError `KERNELS_MISSING` where wasm is not built; `BACKEND_UNAVAILABLE`
 * where there is no GPU
 */
export async function openBackend(name: BackendName): Promise<Backend> {
  if (name !== 'webgpu') return openCpuBackend(name);
  const { openWebGpuBackend } = await import('../compression/device/webgpu-backend.ts');
  const cpu = openCpuBackend('wasm');
  const gpu = await openWebGpuBackend();
  return {
    ...cpu,
    name,
    create: (method, context) => gpu.createCompressor(method, context),
    [Symbol.dispose]: () => {
      gpu[Symbol.dispose]();
    },
  };
}

/** @throws GradwireError `KERNELS_MISSING` where wasm is not built */
export function openCpuBackend(name: CpuBackendName): Backend {
  const arena = new Arena();
  const kernels = name === 'wasm' ? loadWasmKernels(arena) : referenceKernels(arena);
  return {
    name,
    arena,
    kernels,
    create: (method, context) => method.create(context),
    // Memory goes with the last reference to the arena.
    [Symbol.dispose]: () => undefined,
  };
}
