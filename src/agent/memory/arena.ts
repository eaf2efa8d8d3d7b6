/**
 * The arena: one shared WebAssembly memory per worker process, which holds gradients,
 * residuals, payloads and receive buffers. Trainer and engine threads see the same
 * bytes; kernels work on them in place; sockets receive straight into them.
 *
 * It is a first-fit allocator of 16-byte aligned regions with coalescing: allocation is
 * for set-up and for switches, never for the hot path.
 */
import { failure } from '../../shared/errors.ts';

const PAGE = 65_536;
const ALIGNMENT = 16;
/** The kernels' module data is below this offset. */
const BASE = PAGE;
/** 4 GiB, the limit of a 32-bit WebAssembly memory. */
const MAXIMUM_PAGES = 65_536;

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

  /** `memory`: an arena shared by another thread of this process, which allocates. */
  constructor(memory?: WebAssembly.Memory) {
    this.memory =
      memory ??
      new WebAssembly.Memory({ initial: 2, maximum: MAXIMUM_PAGES, shared: true });
  }

  get buffer(): SharedArrayBuffer {
    return this.memory.buffer as unknown as SharedArrayBuffer;
  }

  /** @throws GradwireError `ARENA_EXHAUSTED` */
  allocate(bytes: number): Region {
    const size = Math.ceil(Math.max(bytes, 1) / ALIGNMENT) * ALIGNMENT;
    const index = this.#free.findIndex((run) => run.bytes >= size);
    if (index >= 0) {
      const run = this.#free[index]!;
      if (run.bytes === size) this.#free.splice(index, 1);
      else this.#free[index] = { offset: run.offset + size, bytes: run.bytes - size };
      return { offset: run.offset, bytes: size };
    }
    const region = { offset: this.#end, bytes: size };
    this.#reserve(this.#end + size);
    this.#end += size;
    return region;
  }

  allocateVector(length: number): Vector & Region {
    const region = this.allocate(4 * length);
    return { ...region, length };
  }

  release(region: Region): void {
    const next = this.#free.findIndex((run) => run.offset > region.offset);
    const at = next < 0 ? this.#free.length : next;
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

  #reserve(end: number): void {
    const missing = Math.ceil((end - this.memory.buffer.byteLength) / PAGE);
    if (missing <= 0) return;
    try {
      this.memory.grow(missing);
    } catch {
      throw failure('ARENA_EXHAUSTED', `the arena cannot grow to ${end} bytes`, {
        next: 'Use a smaller model, or machines with more memory.',
      });
    }
  }
}
