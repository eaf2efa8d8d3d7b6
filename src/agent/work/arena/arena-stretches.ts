/**
 * Selections from stretches of a vector, each by its own threshold, on the CPU. A pass that
 * counts a stretch's entries costs as much as one that collects them, so counting collects:
 * if no threshold changes afterwards, everything is selected once it has been counted.
 */
import type { Kernels } from '../../kernels/kernels.ts';
import { closeStream, type StreamRoom } from '../../kernels/sparsification.ts';
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { Stretch, StretchSelector, Threshold } from '../selection.ts';
import { ArenaEntries } from './arena-entries.ts';

/**
 * Most entries of stretches while they are counted; one more shows that there are too
 * many.
 */
export const roomFor = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { most }) => sum + most + 1, 0);

export class ArenaStretches implements StretchSelector<Vector> {
  readonly capacity: number;
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #stretches: readonly Stretch[];
  readonly #room: StreamRoom;
  /** The last requested threshold of each stretch, or NaN. */
  readonly #thresholds: Float64Array;
  /** Number of entries up to the end of each stretch. */
  readonly #ends: Float64Array;
  /** Number of leading stretches whose entries are collected. */
  #collected = 0;
  #x: Vector = { offset: 0, length: 0 };

  /** @param region of `roomBytes(roomFor(stretches))` bytes */
  constructor(
    arena: Arena,
    kernels: Kernels,
    region: Region,
    stretches: readonly Stretch[],
  ) {
    this.#arena = arena;
    this.#kernels = kernels;
    this.#stretches = stretches;
    this.capacity = roomFor(stretches);
    this.#room = { offset: region.offset, capacity: this.capacity };
    this.#thresholds = new Float64Array(stretches.length).fill(NaN);
    this.#ends = new Float64Array(stretches.length);
  }

  begin(x: Vector): void {
    this.#x = x;
    this.#thresholds.fill(NaN);
    this.#collected = 0;
  }

  count(questions: readonly Threshold[]): readonly number[] {
    for (const { stretch, threshold } of questions) {
      if (this.#thresholds[stretch] === threshold) continue;
      this.#thresholds[stretch] = threshold;
      this.#collected = Math.min(this.#collected, stretch);
    }
    while (
      this.#collected < this.#stretches.length &&
      !Number.isNaN(this.#thresholds[this.#collected]!)
    ) {
      this.#collect(this.#collected, this.#stretches[this.#collected]!.most + 1);
    }
    return questions.map(({ stretch }) => this.#ends[stretch]! - this.#start(stretch));
  }

  kthMagnitudes(
    questions: readonly { readonly stretch: number; readonly k: number }[],
  ): readonly number[] {
    return questions.map(({ stretch, k }) =>
      this.#kernels.sparsification.kthMagnitude(this.#part(stretch), k),
    );
  }

  take(): ArenaEntries {
    for (let stretch = 0; stretch < this.#stretches.length; stretch++) {
      const { most } = this.#stretches[stretch]!;
      const due = stretch >= this.#collected;
      if (due || this.#ends[stretch]! - this.#start(stretch) > most) {
        this.#collect(stretch, most);
      }
    }
    const count = this.#start(this.#stretches.length);
    const found = closeStream(this.#arena, this.#room, count);
    const entries = new ArenaEntries(this.#kernels, found);
    entries.clearIn(this.#x);
    return entries;
  }

  /**
   * Writes a stretch's entries after those of earlier stretches; entries of later ones
   * become invalid.
   */
  #collect(stretch: number, limit: number): void {
    const before = this.#start(stretch);
    this.#ends[stretch] = this.#kernels.sparsification.appendAtLeast(
      this.#part(stretch),
      this.#thresholds[stretch]!,
      this.#stretches[stretch]!.start,
      this.#room,
      before,
      limit,
    );
    this.#collected = stretch + 1;
  }

  /** Entries of the stretches before this one. */
  #start(stretch: number): number {
    return stretch === 0 ? 0 : this.#ends[stretch - 1]!;
  }

  #part(stretch: number): Vector {
    const { start, length } = this.#stretches[stretch]!;
    return { offset: this.#x.offset + 4 * start, length };
  }
}
