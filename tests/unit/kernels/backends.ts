/** Kernel backends side by side, on arenas of their own, so that results can be compared. */
import { Arena, type Region, type Vector } from '../../../src/agent/memory/arena.ts';
import type { SparseStream } from '../../../src/agent/memory/entries.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';

export class Backend {
  readonly arena: Arena;
  readonly kernels: Kernels;

  constructor(make: (arena: Arena) => Kernels, arena = new Arena()) {
    this.arena = arena;
    this.kernels = make(arena);
  }

  put(values: ArrayLike<number>): Vector & Region {
    const vector = this.arena.allocateVector(values.length);
    this.arena.f32(vector).set(values);
    return vector;
  }

  get(vector: Vector): Float32Array {
    return this.arena.f32(vector).slice();
  }

  /** A stream of pairs, written as (index, value). */
  putStream(pairs: readonly (readonly [number, number])[]): SparseStream & Region {
    const region = this.arena.allocate(8 * pairs.length);
    const count = pairs.length;
    this.arena.u32(region.offset, count).set(pairs.map(([index]) => index));
    this.arena
      .f32({ offset: region.offset + 4 * count, length: count })
      .set(pairs.map(([, value]) => value));
    return { ...region, count };
  }

  getStream({ offset, count }: SparseStream): {
    indices: Uint32Array;
    values: Float32Array;
  } {
    return {
      indices: this.arena.u32(offset, count).slice(),
      values: this.arena.f32({ offset: offset + 4 * count, length: count }).slice(),
    };
  }

  pairs(stream: SparseStream): [number, number][] {
    const { indices, values } = this.getStream(stream);
    return Array.from(indices, (index, i) => [index, values[i]!]);
  }
}

export const backends = {
  reference: (arena?: Arena): Backend => new Backend(referenceKernels, arena),
  wasm: (arena?: Arena): Backend => new Backend(loadWasmKernels, arena),
};

/** The bytes of an array: compares −0 and NaN as what they are, and quickly. */
export function bytes(array: Float32Array | Uint32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
