/**
 * The threads that kernels run on, one or more, as the kernels see them: calls for
 * vectors of a length, and each thread's own memory. Results do not depend on the number
 * of threads.
 */
import type { Arena, Region } from '../../memory/arena.ts';
import { SLICE } from './job-board.ts';
import type { KernelExports, Of, SlicedCalls } from './kernel-exports.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { sharedCalls } from './shared-calls.ts';
import { CURSOR, THREAD_BYTES, TILES, TOTAL } from './thread-scratch.ts';

/**
 * Vectors from this many elements on are shared among several threads. Waking a thread costs
 * 10 to 40 µs, one pass over this many elements about 40 µs.
 */
export const SHARED_LENGTH = 4 * SLICE;

export class KernelPool {
  /** The calling thread included. */
  readonly count: number;
  /** Calls on the calling thread only. */
  readonly exports: KernelExports;
  /** Calls that all threads share. */
  readonly sliced: SlicedCalls;
  /** Vectors from this many elements on are shared: `SHARED_LENGTH`; one thread alone has none. */
  readonly sharedFrom: number;
  readonly #threads: KernelThreads | undefined;
  readonly #arena: Arena;
  #scratch: Region | undefined;

  /** @param threads the other threads, if any */
  constructor(arena: Arena, exports: KernelExports, threads?: KernelThreads) {
    this.#arena = arena;
    this.count = threads?.count ?? 1;
    this.sharedFrom = this.count > 1 ? SHARED_LENGTH : Infinity;
    this.exports = exports;
    this.sliced = threads === undefined ? exports : sharedCalls(exports, threads);
    this.#threads = threads;
  }

  /** The calls for vectors of this many elements. */
  over(length: number): SlicedCalls {
    return length < this.sharedFrom ? this.exports : this.sliced;
  }

  /** 32 KiB for histograms, the first thread's; the others' follow at `THREAD_BYTES`. */
  get bins(): Of<'bins'> {
    this.#scratch ??= this.#arena.allocate(this.count * THREAD_BYTES);
    return this.#scratch.offset as Of<'bins'>;
  }

  /** Room for tiles of codes, the first thread's. */
  get tiles(): Of<'tiles'> {
    return (this.bins + TILES) as Of<'tiles'>;
  }

  /** A word that counts what is in the first thread's room. */
  get cursor(): Of<'cursor'> {
    return (this.bins + CURSOR) as Of<'cursor'>;
  }

  /** A word that counts what is in all rooms. */
  get total(): Of<'scratch'> {
    return (this.bins + TOTAL) as Of<'scratch'>;
  }

  /** Ends the threads; resolves when they are gone. */
  async close(): Promise<void> {
    if (this.#threads === undefined) return;
    await this.#threads.close();
    if (this.#scratch !== undefined) this.#arena.release(this.#scratch);
    this.#scratch = undefined;
  }
}
