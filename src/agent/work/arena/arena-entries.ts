/** Entries in the arena, stored in the form in which they are sent. */
import type { Kernels } from '../../kernels/kernels.ts';
import type { IndexList } from '../../kernels/sparsification.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../../memory/entries.ts';
import type { Entries, EntryRoom } from '../selection.ts';

export class ArenaEntries implements Entries<Vector> {
  readonly count: number;
  readonly #kernels: Kernels;
  readonly #stream: SparseStream;

  constructor(kernels: Kernels, stream: SparseStream) {
    this.#kernels = kernels;
    this.#stream = stream;
    this.count = stream.count;
  }

  gather(x: Vector): void {
    this.#kernels.sparsification.gatherAt(x, this.#stream, this.values());
  }

  clearIn(x: Vector): void {
    this.#kernels.clearAt(x, this.#stream);
  }

  addTo(out: Vector, factor: number): void {
    this.#kernels.scatterAdd(out, this.#stream, factor);
  }

  setValues(values: Vector): void {
    const own = this.values();
    if (values.offset !== own.offset) this.#kernels.copy(own, values);
  }

  indices(): IndexList {
    return this.#stream;
  }

  values(): Vector {
    const { count, offset } = this.#stream;
    return { offset: offset + 4 * count, length: count };
  }

  stream(): SparseStream {
    return this.#stream;
  }
}

export class ArenaEntryRoom implements EntryRoom<Vector> {
  readonly capacity: number;
  readonly #kernels: Kernels;
  readonly #region: Region;

  /** @param region of `sparseBytes(capacity)` bytes */
  constructor(kernels: Kernels, region: Region, capacity: number) {
    this.#kernels = kernels;
    this.#region = region;
    this.capacity = capacity;
  }

  list(count: number): IndexList {
    if (sparseBytes(count) > this.#region.bytes) {
      throw new Error(`internal: no memory for ${count} entries`);
    }
    return { offset: this.#region.offset, count };
  }

  named(count: number): ArenaEntries {
    return new ArenaEntries(this.#kernels, this.list(count));
  }
}
