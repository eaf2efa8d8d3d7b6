/**
 * Selection on the GPU, for vectors of up to some length: the k of largest magnitude,
 * exactly, or all that reach a threshold. Selections are written to a stream on the GPU,
 * ascending; several can share one, each at its own position. No step waits for the
 * host, except to learn how many entries reached a threshold.
 */
import { bitsOf, floatOf } from '../float-bits.ts';
import {
  BINS,
  choose,
  compact,
  count,
  countReaching,
  histogram,
  scan,
  SELECTION_TILE,
  STATE,
  STATE_WORDS,
} from '../wgsl/selection.ts';
import type { GpuStream } from './device-elementwise.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, wholeOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

/** The digits of a magnitude, from the top. */
const DIGITS = [
  { shift: 20, width: 11 },
  { shift: 10, width: 10 },
  { shift: 0, width: 10 },
];
/** Workgroups that fill a GPU; each adds its own histogram to the common one once. */
const HISTOGRAM_GROUPS = 1024;
const NO_TIE = 0xffff_ffff;
/** The most stretches whose last tile is not full, beyond those of a whole vector. */
const MOST_PARTS = 4096;

/** A selection's position in the stream, and the base of its indices. */
export interface StreamPlace {
  /** Pairs before it. */
  readonly at: number;
  /** The index of x's first entry. */
  readonly first: number;
}

const START: StreamPlace = { at: 0, first: 0 };

/** Entries by magnitude, as f32: all that reach `lower`, `ties` of those below. */
export interface Bounds {
  readonly lower: number;
  /** The least magnitude of ties, of which the first are taken. */
  readonly tie?: number;
  readonly ties?: number;
}

export class DeviceSelection implements Disposable {
  readonly #gpu: GpuDevice;
  /** One state for each of several simultaneous searches. */
  #states: GPUBuffer;
  readonly #bins: GPUBuffer;
  /** Two counts for each tile of each part. */
  readonly #tiles: GPUBuffer;
  readonly #tileCount: number;
  readonly #indices: GPUBuffer;
  readonly #values: GPUBuffer;
  readonly #capacity: number;

  /** `capacity`: the most entries of a selection. */
  constructor(gpu: GpuDevice, length: number, capacity: number) {
    this.#gpu = gpu;
    this.#capacity = capacity;
    this.#states = gpu.allocate(4 * STATE_WORDS);
    this.#bins = gpu.allocate(4 * BINS);
    // A vector may have more parts than this device would split it into.
    this.#tileCount = Math.ceil(length / SELECTION_TILE) + MOST_PARTS;
    this.#tiles = gpu.allocate(8 * this.#tileCount);
    this.#indices = gpu.allocate(4 * capacity);
    this.#values = gpu.allocate(4 * capacity);
  }

  /**
   * Exactly min(k, n) entries with the largest |x|, ties by lower index. x must be finite.
   * @param clear whether x gets zeros in their place
   */
  selectTopK(x: GpuVector, k: number, clear: boolean, place = START): GpuStream {
    const selected = Math.min(k, x.length);
    if (place.at + selected > this.#capacity) {
      throw new Error(`internal: ${selected} entries of at most ${this.#capacity}`);
    }
    const stream = this.stream(place.at + selected);
    if (selected === 0) return stream;
    this.#setStates([{ remaining: selected }]);
    this.#descend(x, 0);
    this.#compact(x, clear, place, selected);
    return stream;
  }

  /**
   * The entries with |x| ≥ threshold (≥ 0). Waits until the device knows how many.
   * @param clear whether x gets zeros in their place
   */
  async selectAtLeast(
    x: GpuVector,
    threshold: number,
    clear: boolean,
  ): Promise<GpuStream> {
    if (x.length === 0) return this.stream(0);
    this.write(x, { lower: threshold }, clear, START, this.#capacity);
    const [state] = await this.#readStates(1);
    return this.stream(state![STATE.count]!);
  }

  /**
   * Writes the entries within the bounds, at most `limit` of them, lowest indices first,
   * without waiting: a caller that knows their number requests a `stream` of them.
   */
  write(
    x: GpuVector,
    { lower, tie, ties = 0 }: Bounds,
    clear: boolean,
    place: StreamPlace,
    limit: number,
  ): void {
    const state = {
      lower: bitsOf(lower),
      tie: tie === undefined ? NO_TIE : bitsOf(tie),
      ties,
    };
    this.#setStates([state]);
    this.#compact(x, clear, place, limit);
  }

  /** Counts the entries of each vector that reach its threshold, in one round trip. */
  async countAtLeast(
    questions: readonly { readonly x: GpuVector; readonly threshold: number }[],
  ): Promise<readonly number[]> {
    this.#reserveStates(questions.length);
    const { commands, ring } = this.#gpu;
    const counts = { ...wholeOf(this.#states), length: questions.length };
    commands.clear(counts);
    for (const [slot, { x, threshold }] of questions.entries()) {
      for (const { length, parts } of windowsOf([x])) {
        commands.dispatch(
          countReaching,
          Math.ceil(length / SELECTION_TILE),
          { x: parts[0], counts },
          { length, threshold: bitsOf(threshold), slot },
        );
      }
    }
    const answer = new Uint32Array(questions.length);
    await ring.read(this.#states, 0, new Uint8Array(answer.buffer));
    return [...answer];
  }

  /** The k-th largest |x| of each vector, 1 ≤ k ≤ n, in one round trip. */
  async kthMagnitudes(
    questions: readonly { readonly x: GpuVector; readonly k: number }[],
  ): Promise<readonly number[]> {
    this.#setStates(questions.map(({ k }) => ({ remaining: k })));
    for (const [slot, { x }] of questions.entries()) this.#descend(x, slot);
    const states = await this.#readStates(questions.length);
    return states.map((state) => floatOf(state[STATE.prefix]!));
  }

  /** The first pairs of what has been written, this many. */
  stream(count: number): GpuStream {
    return { indices: this.#indices, values: this.#values, count };
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(
      this.#states,
      this.#bins,
      this.#tiles,
      this.#indices,
      this.#values,
    );
  }

  /** Finds the digits of the k-th largest magnitude, from the top. */
  #descend(x: GpuVector, slot: number): void {
    const { commands } = this.#gpu;
    const counters = { state: this.#state(slot), bins: wholeOf(this.#bins) };
    let above = 31;
    for (const { shift, width } of DIGITS) {
      for (const { length, parts } of windowsOf([x])) {
        const tiles = Math.ceil(length / SELECTION_TILE);
        const groups = Math.min(tiles, HISTOGRAM_GROUPS);
        commands.dispatch(
          histogram,
          groups,
          { x: parts[0], ...counters },
          { length, shift, above, tiles, groups },
        );
      }
      commands.dispatch(choose, 1, counters, { shift, width });
      above = shift;
    }
  }

  /**
   * Counts the entries of each tile, computes the tiles' positions, and writes the
   * entries there.
   */
  #compact(x: GpuVector, clear: boolean, place: StreamPlace, limit: number): void {
    const { commands } = this.#gpu;
    const state = this.#state(0);
    const tiles = wholeOf(this.#tiles);
    let used = 0;
    for (const { length, parts } of windowsOf([x])) {
      const own = Math.ceil(length / SELECTION_TILE);
      if (used + own > this.#tileCount) {
        throw new Error(`internal: a vector of ${x.parts.length} parts`);
      }
      commands.dispatch(
        count,
        own,
        { x: parts[0], state, tiles },
        { length, tile: used },
      );
      used += own;
    }
    commands.dispatch(scan, 1, { state, tiles }, { count: used });
    const room = Math.min(limit, this.#capacity - place.at);
    if (room === 0) return;
    const indices = { buffer: this.#indices, offset: 4 * place.at, length: room };
    const values = { buffer: this.#values, offset: 4 * place.at, length: room };
    let tile = 0;
    for (const { first, length, parts } of windowsOf([x])) {
      const own = Math.ceil(length / SELECTION_TILE);
      commands.dispatch(
        compact,
        own,
        { x: parts[0], state, tiles, indices, values },
        {
          length,
          first: place.first + first,
          tile,
          clear: Number(clear),
          limit: room,
        },
      );
      tile += own;
    }
  }

  #state(slot: number): BufferRange {
    const offset = 4 * STATE_WORDS * slot;
    return { buffer: this.#states, offset, length: STATE_WORDS };
  }

  /** Sets the states of the next searches; omitted fields are 0. */
  #setStates(states: readonly Partial<Record<keyof typeof STATE, number>>[]): void {
    this.#reserveStates(states.length);
    const words = new Uint32Array(STATE_WORDS * states.length);
    for (const [slot, state] of states.entries()) {
      for (const [name, value] of Object.entries(state)) {
        words[STATE_WORDS * slot + STATE[name as keyof typeof STATE]] = value;
      }
    }
    this.#gpu.commands.write(this.#states, 0, words);
  }

  async #readStates(count: number): Promise<readonly Uint32Array[]> {
    const words = new Uint32Array(STATE_WORDS * count);
    await this.#gpu.ring.read(this.#states, 0, new Uint8Array(words.buffer));
    return Array.from({ length: count }, (_, slot) =>
      words.subarray(STATE_WORDS * slot, STATE_WORDS * (slot + 1)),
    );
  }

  #reserveStates(count: number): void {
    const bytes = 4 * STATE_WORDS * count;
    if (this.#states.size >= bytes) return;
    this.#gpu.destroy(this.#states);
    this.#states = this.#gpu.allocate(bytes);
  }
}
