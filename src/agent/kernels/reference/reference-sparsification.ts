/** The sparsifiers' kernels in obvious TypeScript. */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import {
  requireIndexCapacity,
  requireSameLength,
  requireStreamCapacity,
  streamIndexError,
} from '../preconditions.ts';
import { CounterRandom, type RandomStream } from '../random.ts';
import {
  entriesPerRun,
  type IndexList,
  type SparsificationKernels,
  type StreamRoom,
} from '../sparsification.ts';

export class ReferenceSparsification implements SparsificationKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  selectTopK(x: Vector, k: number, out: Region): SparseStream {
    const values = this.#arena.f32(x);
    const count = Math.min(k, values.length);
    const magnitudes = Float32Array.from(values, Math.abs).sort().reverse();
    const smallest = count === 0 ? Infinity : magnitudes[count - 1]!;
    let ties = count - magnitudes.filter((magnitude) => magnitude > smallest).length;
    const selected: number[] = [];
    values.forEach((value, index) => {
      const magnitude = Math.abs(value);
      if (magnitude > smallest || (magnitude === smallest && ties-- > 0)) {
        selected.push(index);
      }
    });
    return this.#write(
      out,
      selected,
      selected.map((index) => values[index]!),
    );
  }

  kthMagnitude(x: Vector, k: number): number {
    if (k < 1 || k > x.length) {
      throw new Error(`internal: magnitude ${k} of ${x.length}`);
    }
    return Float32Array.from(this.#arena.f32(x), Math.abs).sort().at(-k)!;
  }

  appendAtLeast(
    x: Vector,
    threshold: number,
    first: number,
    room: StreamRoom,
    count: number,
    limit: number,
  ): number {
    const threshold32 = Math.fround(threshold);
    const end = Math.min(count + limit, room.capacity);
    const indices = this.#arena.u32(room.offset, room.capacity);
    const values = this.#arena.f32({
      offset: room.offset + 4 * room.capacity,
      length: room.capacity,
    });
    let filled = count;
    this.#arena.f32(x).forEach((value, index) => {
      if (Math.abs(value) < threshold32 || filled >= end) return;
      indices[filled] = first + index;
      values[filled++] = value;
    });
    return filled;
  }

  selectTopKPerRun(
    x: Vector,
    run: number,
    k: number,
    tailK: number,
    out: Region,
  ): SparseStream {
    const values = this.#arena.f32(x);
    requireStreamCapacity(out, entriesPerRun(x.length, run, k, tailK));
    const selected: number[] = [];
    for (let start = 0; start < values.length; start += run) {
      const length = Math.min(run, values.length - start);
      const order = Array.from({ length }, (_, i) => start + i);
      order.sort((i, j) => Math.abs(values[j]!) - Math.abs(values[i]!) || i - j);
      const largest = order.slice(0, length === run ? k : tailK);
      selected.push(...largest.sort((i, j) => i - j));
    }
    return this.#write(
      out,
      selected,
      selected.map((index) => values[index]!),
    );
  }

  gatherAt(x: Vector, { offset, count }: IndexList, out: Vector): void {
    requireSameLength({ offset, length: count }, out);
    const indices = this.#arena.u32(offset, count);
    const outside = indices.find((index) => index >= x.length);
    if (outside !== undefined) throw streamIndexError(outside, x.length);
    const values = this.#arena.f32(x);
    this.#arena.f32(out).set(Array.from(indices, (index) => values[index]!));
  }

  /**
   * Floyd's sample of k of n (Bentley and Floyd, CACM 1987): for j from n − k up, one of
   * [0, j] from 53 random bits, or j itself if that one was drawn before.
   */
  drawIndices(n: number, k: number, name: RandomStream, out: Region): IndexList {
    requireIndexCapacity(out, k, n);
    const random = new CounterRandom(name);
    const drawn = new Set<number>();
    for (let draw = 0; draw < k; draw++) {
      const j = n - k + draw;
      const high = random.bits(2 * draw);
      const low = random.bits(2 * draw + 1) >>> 11;
      const index = Math.floor((high * 2 ** 21 + low) * 2 ** -53 * (j + 1));
      drawn.add(drawn.has(index) ? j : index);
    }
    this.#arena.u32(out.offset, k).set([...drawn].sort((i, j) => i - j));
    return { offset: out.offset, count: k };
  }

  #write(
    out: Region,
    indices: readonly number[],
    values: readonly number[],
  ): SparseStream {
    const count = indices.length;
    requireStreamCapacity(out, count);
    this.#arena.u32(out.offset, count).set(indices);
    this.#arena.f32({ offset: out.offset + 4 * count, length: count }).set(values);
    return { offset: out.offset, count };
  }
}
