/**
 * The arena: one shared WebAssembly memory per worker process, which holds gradients,
 * residuals, payloads and receive buffers. Trainer and engine threads see the same
 * bytes; kernels work on them in place; sockets receive straight into them.
 *
 * It is a first-fit allocator of 16-byte aligned regions with coalescing: allocation is
 * for set-up and for switches, never for the hot path. It grows the memory in stretches that
 * need not be adjacent, because jax-js may grow the same memory for its own arrays
 * (`scripts/jax-memory.ts`).
 */
import { failure } from '../../shared/errors/errors.ts';

const PAGE = 65_536;
const ALIGNMENT = 16;
/** The kernels' module data is below this offset. */
const BASE = PAGE;
const INITIAL_PAGES = 2;
/** 4 GiB, the limit of a 32-bit WebAssembly memory. */
const MAXIMUM_PAGES = 65_536;
/** Bytes that an arena can hold in all. */
export const ARENA_BYTES = MAXIMUM_PAGES * PAGE - BASE;

/** A contiguous range of bytes in the arena. */
export interface Region {
  readonly offset: number;
  readonly bytes: number;
}

/** `length` f32 elements that start at byte `offset` of the arena. */
export interface Vector {
  readonly offset: number;
  readonly length: number;
}

export function vectorOf(region: Region, length = region.bytes >>> 2): Vector {
  return { offset: region.offset, length };
}

/** Whether two vectors overlap without starting at the same offset. */
export function overlap(a: Vector, b: Vector): boolean {
  return (
    a.offset !== b.offset &&
    a.offset < b.offset + 4 * b.length &&
    b.offset < a.offset + 4 * a.length
  );
}

export class Arena {
  readonly memory: WebAssembly.Memory;
  /** Free runs, ascending by offset, never adjacent. */
  #free: Region[] = [];
  #end = BASE;
  /** The end of the last stretch of the memory that this arena has taken. */
  #limit = INITIAL_PAGES * PAGE;

  /**
   * @param memory made by `arenaMemory`. Code outside of the arena may grow it for itself, but of
   * several arenas on one memory only one may allocate.
   */
  constructor(memory: WebAssembly.Memory = arenaMemory()) {
    this.memory = memory;
  }

  get buffer(): SharedArrayBuffer {
    return this.memory.buffer as unknown as SharedArrayBuffer;
  }

  /** @throws GradwireError `ARENA_EXHAUSTED` */
  allocate(bytes: number): Region {
    const size = sizeFor(bytes);
    const index = this.#free.findIndex((run) => run.bytes >= size);
    if (index >= 0) {
      const run = this.#free[index]!;
      if (run.bytes === size) this.#free.splice(index, 1);
      else this.#free[index] = { offset: run.offset + size, bytes: run.bytes - size };
      return { offset: run.offset, bytes: size };
    }
    if (this.#end + size > this.#limit) this.#take(size);
    const region = { offset: this.#end, bytes: size };
    this.#end += size;
    return region;
  }

  allocateVector(length: number): Vector & Region {
    const region = this.allocate(4 * length);
    return { ...region, length };
  }

  /**
   * Takes back a region that `allocate` has returned. Its `bytes` may be the returned number, or
   * the smaller one that was asked for, also 0.
   * @throws an internal error if any of it is free already: two owners would share it
   */
  release(region: Region): void {
    const { offset } = region;
    const bytes = sizeFor(region.bytes);
    if (!(offset >= BASE && region.bytes >= 0 && offset + bytes <= this.#end)) {
      throw notGiven(region);
    }
    this.#takeBack({ offset, bytes });
  }

  #takeBack(region: Region): void {
    const next = this.#free.findIndex((run) => run.offset > region.offset);
    const at = next < 0 ? this.#free.length : next;
    const [before, after] = [this.#free[at - 1], this.#free[at]];
    const isFree =
      (before !== undefined && before.offset + before.bytes > region.offset) ||
      (after !== undefined && region.offset + region.bytes > after.offset);
    if (isFree) throw notGiven(region);
    this.#free.splice(at, 0, { offset: region.offset, bytes: region.bytes });
    this.#coalesce(at);
    if (at > 0) this.#coalesce(at - 1);
  }

  f32(vector: Vector): Float32Array<SharedArrayBuffer> {
    return new Float32Array(this.buffer, vector.offset, vector.length);
  }

  f64(vector: Vector): Float64Array<SharedArrayBuffer> {
    return new Float64Array(this.buffer, vector.offset, vector.length);
  }

  u32(offset: number, length: number): Uint32Array<SharedArrayBuffer> {
    return new Uint32Array(this.buffer, offset, length);
  }

  u8(offset: number, length: number): Uint8Array<SharedArrayBuffer> {
    return new Uint8Array(this.buffer, offset, length);
  }

  #coalesce(index: number): void {
    const run = this.#free[index]!;
    const next = this.#free[index + 1];
    if (next !== undefined && run.offset + run.bytes === next.offset) {
      this.#free.splice(index, 2, {
        offset: run.offset,
        bytes: run.bytes + next.bytes,
      });
    }
  }

  /** Grows the memory until this many bytes fit between the end of the regions and the limit. */
  #take(bytes: number): void {
    while (this.#end + bytes > this.#limit) {
      const continues = this.memory.buffer.byteLength === this.#limit;
      const missing = continues ? this.#end + bytes - this.#limit : bytes;
      const pages = Math.ceil(missing / PAGE);
      const start = this.#grow(pages) * PAGE;
      if (start !== this.#limit) {
        if (this.#end < this.#limit) {
          this.#takeBack({ offset: this.#end, bytes: this.#limit - this.#end });
        }
        this.#end = start;
      }
      this.#limit = start + pages * PAGE;
    }
  }

  /** @returns the index of the first new page */
  #grow(pages: number): number {
    try {
      return this.memory.grow(pages);
    } catch {
      throw failure(
        'ARENA_EXHAUSTED',
        `the arena has no room for ${pages * PAGE} bytes more`,
        {
          next: 'Use a smaller model, or machines with more memory.',
        },
      );
    }
  }
}

/** Bytes that a region takes. */
const sizeFor = (bytes: number): number =>
  Math.ceil(Math.max(bytes, 1) / ALIGNMENT) * ALIGNMENT;

const notGiven = ({ offset, bytes }: Region): Error =>
  new Error(`internal: ${bytes} bytes at ${offset} are released, but not in use`);

/** Memory for an arena, which takes the pages that it begins with. */
export function arenaMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: MAXIMUM_PAGES,
    shared: true,
  });
}
