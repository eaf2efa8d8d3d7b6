/** Starts the CPU kernels. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { checkedOptions } from '../../../shared/checks/checked-options.ts';
import { bundledFile, type BundledFile } from '../../bundle/bundled-file.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Kernels } from '../kernels.ts';
import { instantiate } from './kernel-exports.ts';
import { KernelPool, SHARED_LENGTH } from './kernel-pool.ts';
import { KernelThreads } from './kernel-threads.ts';
import { WasmKernels } from './wasm-kernels.ts';

const KERNELS: BundledFile = {
  bundle: 'kernels.wasm',
  source: '../../../../dist/kernels/kernels.wasm',
  missing: 'KERNELS_MISSING',
};
const THREAD: BundledFile = {
  bundle: 'kernel-thread.js',
  source: 'kernel-thread.ts',
  missing: 'KERNELS_MISSING',
};

export interface WasmKernelOptions {
  /**
   * Number of threads that share the work on a large vector, including the calling one; default: 1,
   * which starts no thread. Results are the same, bit for bit.
   */
  readonly threads?: number;
  /** The longest vector there will be, if known: no thread is started for short ones. */
  readonly longest?: number;
}

/** The most threads to accept, more than any machine has cores. */
const MOST_THREADS = 1024;

const optionsSchema = z.strictObject({
  threads: z.int().min(1).max(MOST_THREADS).optional(),
  longest: z
    .custom<number>(
      (value) => typeof value === 'number' && value >= 0,
      'expected a number of elements',
    )
    .optional(),
});

/** Kernels that may have threads; the caller that loads them closes them. */
export interface LoadedKernels {
  readonly kernels: Kernels;
  /** Ends the threads; resolves when they are gone. No kernel may be called after it. */
  close(): Promise<void>;
}

/**
 * The CPU kernels on an arena, for the thread that calls.
 * @throws GradwireError `KERNELS_MISSING`
 */
export function loadWasmKernels(arena: Arena): Kernels {
  return startWasmKernels(arena).kernels;
}

/** One module per thread, for all arenas and callers. */
let compiled: WebAssembly.Module | undefined;

/**
 * The CPU kernels on an arena, called by one thread and run by several.
 * @throws GradwireError `OPTION_INVALID`, `KERNELS_MISSING`; a kernel whose thread has died throws
 * `KERNEL_THREAD_LOST`
 */
export function startWasmKernels(
  arena: Arena,
  options: WasmKernelOptions = {},
): LoadedKernels {
  const { threads = 1, longest = Infinity } = checkedOptions(
    optionsSchema,
    options,
    'startWasmKernels',
  );
  const module = (compiled ??= new WebAssembly.Module(readKernelFile()));
  const exports = instantiate(module, arena.memory);
  const others =
    threads > 1 && longest >= SHARED_LENGTH
      ? new KernelThreads(
          arena,
          module,
          exports,
          threads,
          bundledFile(THREAD, import.meta.dirname),
        )
      : undefined;
  const pool = new KernelPool(arena, exports, others);
  return { kernels: new WasmKernels(arena, pool), close: () => pool.close() };
}

/** @throws GradwireError `KERNELS_MISSING` */
export function readKernelFile(from = import.meta.dirname): Uint8Array {
  return readFileSync(bundledFile(KERNELS, from));
}
