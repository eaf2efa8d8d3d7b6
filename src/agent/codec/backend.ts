/** The kernel backends by name, each on an arena of its own. */
import { inputError } from '../../shared/errors.ts';
import { Arena } from '../kernels/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { referenceKernels } from '../kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';

export const BACKENDS = ['reference', 'wasm', 'webgpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

export interface Backend {
  readonly arena: Arena;
  readonly kernels: Kernels;
}

/**
 * `reference`: plain TypeScript, slow. `wasm`: the CPU's SIMD.
 * @throws GradwireError `KERNELS_MISSING` where wasm is not built, `BACKEND_UNAVAILABLE`
 */
export function openBackend(name: BackendName): Backend {
  switch (name) {
    case 'reference': {
      const arena = new Arena();
      return { arena, kernels: referenceKernels(arena) };
    }
    case 'wasm': {
      const arena = new Arena();
      return { arena, kernels: loadWasmKernels(arena) };
    }
    case 'webgpu':
      throw inputError('BACKEND_UNAVAILABLE', 'this build has no webgpu kernels', {
        next: 'Use wasm or reference: payloads are the same, byte for byte.',
      });
    default:
      return name satisfies never;
  }
}
