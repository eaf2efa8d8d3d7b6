/**
 * The search for a threshold on the CPU: counting collects entries. Those that reach a
 * threshold for all entries are the candidates, in separate memory; those among them that
 * reach a higher one are written to the output, so that the last question has already
 * selected.
 */
import {
  closeStream,
  roomBytes,
  type StreamRoom,
} from '../../kernels/sparsification.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import type { Leave, ThresholdSearch, TieBounds } from '../selection.ts';
import { ArenaEntries } from './arena-entries.ts';
import type { Selecting } from './arena-selector.ts';

export class ArenaSearch implements ThresholdSearch<Vector> {
  readonly #work: Selecting;
  readonly #out: Region;
  #region: Region | undefined;
  #x: Vector = { offset: 0, length: 0 };
  /** Room for the candidates, and for one more, which shows that there are too many. */
  #all: StreamRoom = { offset: 0, capacity: 0 };
  /** The selection; its indices are positions among the candidates. */
  #room: StreamRoom = { offset: 0, capacity: 0 };
  /** Entries in `#all`, while it is open. */
  #collected = 0;
  #candidates: SparseStream | undefined;

  /** @param out the destination of selections */
  constructor(work: Selecting, out: Region) {
    this.#work = work;
    this.#out = out;
  }

  begin(x: Vector, candidates: number): void {
    const bytes = roomBytes(candidates + 1);
    if (this.#region === undefined || this.#region.bytes < bytes) {
      this.#region = this.#work.region(bytes);
    }
    this.#x = x;
    this.#all = { offset: this.#region.offset, capacity: candidates + 1 };
    this.#candidates = undefined;
    this.#collected = 0;
  }

  count(threshold: number, limit: number, among: 'all' | 'candidates'): number {
    if (among === 'all') {
      this.#collected = this.#collect(this.#x, threshold, this.#all);
      return this.#collected;
    }
    this.#candidates ??= closeStream(this.#work.arena, this.#all, this.#collected);
    this.#room = { offset: this.#out.offset, capacity: limit };
    return this.#collect(valuesOf(this.#candidates), threshold, this.#room);
  }

  reaching(_threshold: number, count: number, leave: Leave): ArenaEntries {
    return this.#named(closeStream(this.#work.arena, this.#room, count), leave);
  }

  ties({ low, high, certain }: TieBounds, k: number, leave: Leave): ArenaEntries {
    const { arena } = this.#work;
    const { offset } = this.#out;
    const all = arena.f32(valuesOf(this.#candidates!));
    const positions = arena.u32(offset, k);
    const kept = arena.f32({ offset: offset + 4 * k, length: k });
    let ties = k - certain;
    let count = 0;
    for (let i = 0; i < all.length && count < k; i++) {
      const magnitude = Math.abs(all[i]!);
      if (magnitude < low || (magnitude < high && ties-- <= 0)) continue;
      positions[count] = i;
      kept[count++] = all[i]!;
    }
    return this.#named({ offset, count }, leave);
  }

  /**
   * Collects the entries that reach a threshold; the room shows if there are too many.
   */
  #collect(x: Vector, threshold: number, room: StreamRoom): number {
    const { sparsification } = this.#work.kernels;
    return sparsification.appendAtLeast(x, threshold, 0, room, 0, room.capacity);
  }

  /** Converts positions among the candidates to indices in x. */
  #named(selected: SparseStream, leave: Leave): ArenaEntries {
    const { arena, kernels } = this.#work;
    const { offset, count } = this.#candidates!;
    const names = arena.u32(offset, count);
    const positions = arena.u32(selected.offset, selected.count);
    for (let i = 0; i < positions.length; i++) {
      positions[i] = names[positions[i]!]!;
    }
    const entries = new ArenaEntries(kernels, selected);
    if (leave === 'clear') entries.clearIn(this.#x);
    return entries;
  }
}

function valuesOf({ offset, count }: SparseStream): Vector {
  return { offset: offset + 4 * count, length: count };
}
