/** Selections by the CPU's kernels, written directly to the payload's memory. */
import type { Kernels } from '../../kernels/kernels.ts';
import { closeStream, type StreamRoom } from '../../kernels/sparsification.ts';
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import type { Leave, Selector } from '../selection.ts';
import { ArenaEntries, ArenaEntryRoom } from './arena-entries.ts';
import { ArenaSearch } from './arena-search.ts';

export interface Selecting {
  readonly arena: Arena;
  readonly kernels: Kernels;
  /** Allocates memory that lasts as long as the work. */
  region(bytes: number): Region;
}

export class ArenaSelector extends ArenaEntryRoom implements Selector<Vector> {
  readonly #work: Selecting;
  readonly #region: Region;
  #search: ArenaSearch | undefined;

  /** @param region of `sparseBytes(capacity)` bytes */
  constructor(work: Selecting, region: Region, capacity: number) {
    super(work.kernels, region, capacity);
    this.#work = work;
    this.#region = region;
  }

  topK(x: Vector, k: number, leave: Leave): ArenaEntries {
    const { sparsification } = this.#work.kernels;
    return this.#taken(x, sparsification.selectTopK(x, k, this.#region), leave);
  }

  topKPerRun(
    x: Vector,
    run: number,
    k: number,
    tailK: number,
    leave: Leave,
  ): ArenaEntries {
    const { sparsification } = this.#work.kernels;
    const found = sparsification.selectTopKPerRun(x, run, k, tailK, this.#region);
    return this.#taken(x, found, leave);
  }

  reaching(x: Vector, threshold: number, leave: Leave): ArenaEntries {
    const { arena, kernels } = this.#work;
    const { capacity } = this;
    const room: StreamRoom = { offset: this.#region.offset, capacity };
    const { sparsification } = kernels;
    const count = sparsification.appendAtLeast(x, threshold, 0, room, 0, capacity);
    return this.#taken(x, closeStream(arena, room, count), leave);
  }

  search(x: Vector, candidates: number): ArenaSearch {
    this.#search ??= new ArenaSearch(this.#work, this.#region);
    this.#search.begin(x, candidates);
    return this.#search;
  }

  #taken(x: Vector, found: SparseStream, leave: Leave): ArenaEntries {
    const entries = new ArenaEntries(this.#work.kernels, found);
    if (leave === 'clear') entries.clearIn(x);
    return entries;
  }
}
