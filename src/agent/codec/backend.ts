/**
 * The kernel backends by name, each on its own arena; they create compressors for
 * vectors in that arena. On a GPU a vector is copied both ways, and methods that the
 * GPU does not support are refused by name.
 */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import { BucketCompressor, type GradientBucket } from '../methods/bucket-compressor.ts';
import type { CompressorContext, MethodDefinition } from '../methods/method.ts';
import { Arena, type Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { referenceKernels } from '../kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { ArenaWork } from '../work/arena/arena-work.ts';

const CPU_BACKENDS = ['reference', 'wasm'] as const;
export const BACKENDS = [...CPU_BACKENDS, 'webgpu'] as const;
export type CpuBackendName = (typeof CPU_BACKENDS)[number];
export type BackendName = (typeof BACKENDS)[number];

export interface Backend extends Disposable {
  readonly name: BackendName;
  readonly arena: Arena;
  /** The CPU's kernels, on any backend. */
  readonly kernels: Kernels;
  /**
   * Runs the method on a gradient in the arena, which becomes the average.
   * @throws GradwireError `BACKEND_UNAVAILABLE` if a device cannot bind the required
   * memory
   */
  open(
    method: MethodDefinition,
    context: VectorContext,
    gradient: Vector,
  ): GradientBucket;
}

/** A compressor's context without what the backend brings. */
export type VectorContext = Omit<CompressorContext<JsonObject>, 'work'>;

/**
 * `reference`: plain TypeScript, slow. `wasm`: the CPU's SIMD. `webgpu`: a GPU, by Dawn.
 * @throws GradwireError `BACKEND_UNKNOWN`; `KERNELS_MISSING` if wasm is not built; `BACKEND_UNAVAILABLE` if
 * there is no GPU
 */
export async function openBackend(name: BackendName): Promise<Backend> {
  if (!BACKENDS.includes(name)) throw unknownBackend(name);
  if (name !== 'webgpu') return openCpuBackend(name);
  const { openGpuDevice } = await import('../kernels/webgpu/gpu-device.ts');
  const { compressUploaded } = await import('./uploaded.ts');
  const cpu = openCpuBackend('wasm');
  const { arena, kernels } = cpu;
  const gpu = await openGpuDevice();
  return {
    ...cpu,
    name,
    open: (method, context, gradient) =>
      compressUploaded({ gpu, arena, kernels, method, context, gradient }),
    [Symbol.dispose]: () => {
      gpu.close();
    },
  };
}

/**
 * @throws GradwireError `BACKEND_UNKNOWN`; `KERNELS_MISSING` where wasm is not built
 */
export function openCpuBackend(name: CpuBackendName): Backend {
  if (!CPU_BACKENDS.includes(name)) throw unknownBackend(name);
  const arena = new Arena();
  const kernels = name === 'wasm' ? loadWasmKernels(arena) : referenceKernels(arena);
  return {
    name,
    arena,
    kernels,
    open: (method, context, gradient) => {
      const work = new ArenaWork(arena, kernels);
      return new BucketCompressor({ method, context: { ...context, work }, gradient });
    },
    // Memory is freed with the last reference to the arena.
    [Symbol.dispose]: () => undefined,
  };
}

function unknownBackend(name: unknown): GradwireError {
  const isGpu = name === 'webgpu';
  return inputError(
    'BACKEND_UNKNOWN',
    isGpu
      ? 'webgpu is not opened by its name alone'
      : `there is no backend ${shown(name)}`,
    {
      next: isGpu
        ? "Open it first, await openBackend('webgpu'), and give what that returns."
        : `Use one of ${BACKENDS.join(', ')}.`,
    },
  );
}

const shown = (name: unknown): string =>
  typeof name === 'string' ? JSON.stringify(name) : `of type ${typeof name}`;
