/** Kernels on several threads, of which every one works on every job. */
import path from 'node:path';
import { Arena } from '../../../src/agent/memory/arena.ts';
import type { JobBoard } from '../../../src/agent/kernels/wasm/job-board.ts';
import {
  instantiate,
  TASKS,
  type KernelExports,
} from '../../../src/agent/kernels/wasm/kernel-exports.ts';
import { KernelPool } from '../../../src/agent/kernels/wasm/kernel-pool.ts';
import { KernelThreads } from '../../../src/agent/kernels/wasm/kernel-threads.ts';
import { readKernelFile } from '../../../src/agent/kernels/wasm/load.ts';
import { WasmKernels } from '../../../src/agent/kernels/wasm/wasm-kernels.ts';
import { Backend } from './backends.ts';

const THREAD_FILE = path.join(
  import.meta.dirname,
  '../../../src/agent/kernels/wasm/kernel-thread.ts',
);

export interface Threaded {
  readonly backend: Backend;
  readonly pool: KernelPool;
  /** Slices that other threads than the caller took. */
  slicesOfOthers(): number;
}

/**
 * @param join called before each slice of the caller: whether it does its work on it
 */
export function threaded(threads: number, join = awaitOthers(threads)): Threaded {
  const arena = new Arena();
  const module = new WebAssembly.Module(readKernelFile());
  const exports = instantiate(module, arena.memory);
  let own = 0;
  let all = 0;
  let running = false;
  const held: Record<string, unknown> = { ...exports };
  for (const task of TASKS) {
    const kernel = exports[task] as unknown as (
      ...values: number[]
    ) => number | undefined;
    held[task] = (...values: number[]) => {
      if (running) {
        own++;
        if (!join(board)) return undefined;
      }
      return kernel(...values);
    };
  }
  const heldExports = held as unknown as KernelExports;
  const others = new KernelThreads(arena, module, heldExports, threads, THREAD_FILE);
  const { board } = others;
  const run = others.run.bind(others);
  others.run = () => {
    running = true;
    try {
      const slices = run();
      all += slices;
      return slices;
    } finally {
      running = false;
    }
  };
  const pool = new KernelPool(arena, exports, others);
  return {
    backend: new Backend(() => new WasmKernels(arena, pool), arena),
    pool,
    slicesOfOthers: () => all - own,
  };
}

/** Waits until every thread has come, or there is nothing left to come for. */
function awaitOthers(threads: number): (board: JobBoard) => boolean {
  return (board) => {
    waitUntil(() => board.active >= threads - 1 || board.allTaken);
    return true;
  };
}

export function waitUntil(condition: () => boolean): void {
  const deadline = performance.now() + 60_000;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the threads did not come');
    Atomics.wait(pause, 0, 0, 0.05);
  }
}
