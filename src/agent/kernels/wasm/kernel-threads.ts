/**
 * The kernel threads of one calling thread, which waits while they work: a kernel stays a
 * synchronous call. They start in the background and join when they are ready; they sleep
 * between jobs and keep no process alive. Results do not depend on the number of threads,
 * nor on which took which slice.
 */
import { Worker } from 'node:worker_threads';
import { failure, type GradwireError } from '../../../shared/errors/errors.ts';
import type { Arena, Region } from '../../memory/arena.ts';
import { JobBoard } from './job-board.ts';
import type { KernelExports } from './kernel-exports.ts';

export interface KernelThreadData {
  readonly memory: WebAssembly.Memory;
  readonly module: WebAssembly.Module;
  /** Offset of the board in the memory. */
  readonly board: number;
  readonly thread: number;
}

/**
 * A slice takes about 10 µs. A thread needs longer only if it is gone or the machine
 * stands still.
 */
const PATIENCE_SECONDS = 30;

export class KernelThreads {
  /** The calling thread included. */
  readonly count: number;
  readonly board: JobBoard;
  readonly #exports: KernelExports;
  readonly #arena: Arena;
  readonly #boardRegion: Region;
  readonly #workers: readonly Worker[];
  #lost: GradwireError | undefined;
  #closed = false;

  /** @param file the entry of a kernel thread: kernel-thread.ts, or its bundle */
  constructor(
    arena: Arena,
    module: WebAssembly.Module,
    exports: KernelExports,
    count: number,
    file: string,
  ) {
    this.count = count;
    this.#exports = exports;
    this.#arena = arena;
    this.#boardRegion = arena.allocate(JobBoard.bytes);
    this.board = new JobBoard(arena.memory, this.#boardRegion.offset);
    this.board.clear();
    this.#workers = Array.from({ length: count - 1 }, (_, index) => {
      const workerData: KernelThreadData = {
        memory: arena.memory,
        module,
        board: this.#boardRegion.offset,
        thread: index + 1,
      };
      const worker = new Worker(file, {
        workerData,
        name: `kernels ${index + 1}`,
      });
      worker.unref();
      worker.on('error', (error) => {
        this.#lose(`kernel thread ${index + 1} failed: ${error.message}`);
      });
      worker.on('exit', () => {
        this.#lose(`kernel thread ${index + 1} ended`);
      });
      return worker;
    });
  }

  /**
   * Runs the job on the board.
   * @returns how many slices it had; what they returned is in `board.results`
   * @throws GradwireError `KERNEL_THREAD_LOST`
   */
  run(): number {
    if (this.#closed) throw new Error('internal: the kernel threads are closed');
    this.#assertThreads();
    const { slices } = this.board;
    this.board.open(Math.min(slices, this.count) - 1);
    try {
      this.board.takeSlices(this.#exports, 0);
    } finally {
      if (!this.board.close(PATIENCE_SECONDS)) {
        this.#lose(`a kernel thread was silent for ${PATIENCE_SECONDS} s`);
      }
      const { failed } = this.board;
      if (failed > 0) this.#lose(`a kernel failed on kernel thread ${failed}`);
    }
    this.#assertThreads();
    return slices;
  }

  /** Tells the threads to exit; resolves when they are gone. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.board.end();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
    this.#arena.release(this.#boardRegion);
  }

  #assertThreads(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  #lose(message: string): void {
    this.#lost ??= failure('KERNEL_THREAD_LOST', message, {
      next: 'Launch the run again; if this happens again, use one thread per rank.',
    });
  }
}
