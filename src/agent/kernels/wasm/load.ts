/**
 * Finds and starts the CPU kernels. `kernels.wasm` lies beside a deployed bundle, so that
 * an agent's folder can be copied to another machine as it is, or in the checkout's
 * dist/kernels.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { failure } from '../../../shared/errors.ts';
import type { Arena } from '../arena.ts';
import type { Kernels } from '../kernels.ts';
import { wasmKernels } from './wasm-kernels.ts';

const FILE = 'kernels.wasm';

/** In order: beside a bundle, beside its chunks, another bundle's, run from source. */
const FOLDERS = ['.', '..', '../kernels', '../../kernels', '../../../../dist/kernels'];

/**
 * The CPU kernels on an arena, for the thread that calls.
 * @throws GradwireError `KERNELS_MISSING`
 */
export function loadWasmKernels(arena: Arena): Kernels {
  return wasmKernels(arena, readKernelFile());
}

/** @throws GradwireError `KERNELS_MISSING` */
export function readKernelFile(from = import.meta.dirname): Uint8Array {
  const file = FOLDERS.map((folder) => path.join(from, folder, FILE)).find(existsSync);
  if (file === undefined) {
    throw failure('KERNELS_MISSING', `there is no ${FILE} near ${from}`, {
      next: 'Build it with: npm run build',
    });
  }
  return readFileSync(file);
}
