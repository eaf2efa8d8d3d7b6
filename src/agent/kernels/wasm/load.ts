/**
 * Finds and starts the CPU kernels. `kernels.wasm` and the kernel threads' script lie
 * beside a deployed bundle, so that an agent's folder can be copied to another machine as
 * it is, or in the checkout's dist/kernels.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { failure } from '../../../shared/errors.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Kernels } from '../kernels.ts';
import { instantiate } from './kernel-exports.ts';
import { KernelThreads, SHARED_LENGTH } from './kernel-threads.ts';
import { ThreadedKernels } from './threaded-kernels.ts';
import { WasmKernels } from './wasm-kernels.ts';

const FILE = 'kernels.wasm';
const THREAD_FILE = 'kernel-thread.js';

/** In order: beside a bundle, beside its chunks, another bundle's, run from source. */
const FOLDERS = ['.', '..', '../kernels', '../../kernels', '../../../../dist/kernels'];

export interface WasmKernelOptions {
  /**
   * How many threads share the work on a large vector, the calling one included; 1 unless
   * told, and then no thread is started. Results are the same, bit for bit.
   */
  readonly threads?: number;
  /** The longest vector there will be, if known: no thread is started for short ones. */
  readonly longest?: number;
}

/** Kernels that may have threads: whoever loads them closes them. */
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

/**
 * The CPU kernels on an arena, called by one thread and run by several.
 * @throws GradwireError `KERNELS_MISSING`; a kernel whose thread has died throws
 * `KERNEL_THREAD_LOST`
 */
export function startWasmKernels(
  arena: Arena,
  { threads = 1, longest = Infinity }: WasmKernelOptions = {},
): LoadedKernels {
  const module = new WebAssembly.Module(readKernelFile());
  const exports = instantiate(module, arena.memory);
  const alone = new WasmKernels(arena, exports);
  if (threads <= 1 || longest < SHARED_LENGTH) {
    return { kernels: alone, close: () => Promise.resolve() };
  }
  const pool = new KernelThreads(arena, module, exports, threads, threadFile());
  return {
    kernels: new ThreadedKernels(arena, pool, alone),
    close: () => pool.close(),
  };
}

/** @throws GradwireError `KERNELS_MISSING` */
export function readKernelFile(from = import.meta.dirname): Uint8Array {
  return readFileSync(findFile(FILE, from));
}

/** Beside the source there is the source; a bundle knows of no other file. */
function threadFile(): string {
  const source = path.join(import.meta.dirname, 'kernel-thread.ts');
  return existsSync(source) ? source : findFile(THREAD_FILE, import.meta.dirname);
}

function findFile(name: string, from: string): string {
  const file = FOLDERS.map((folder) => path.join(from, folder, name)).find(existsSync);
  if (file === undefined) {
    throw failure('KERNELS_MISSING', `there is no ${name} near ${from}`, {
      next: 'Build it with: npm run build',
    });
  }
  return file;
}
