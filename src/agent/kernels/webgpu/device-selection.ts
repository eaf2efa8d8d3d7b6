/**
 * Selection on the GPU, for vectors of one length: the k of largest magnitude, exactly, or
 * all that reach a threshold. What is selected is written to a stream on the GPU,
 * ascending. No step waits for the host; only who wants to know how many reached a
 * threshold does.
 */
import {
  BINS,
  choose,
  compact,
  count,
  histogram,
  scan,
  SELECTION_TILE,
  STATE,
  STATE_WORDS,
} from '../wgsl/selection.ts';
import type { GpuStream } from './device-elementwise.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, wholeOf, type GpuVector } from './gpu-vector.ts';
import { bitsOf } from './pipeline-cache.ts';

/** The digits of a magnitude, from the top. */
const DIGITS = [
  { shift: 20, width: 11 },
  { shift: 10, width: 10 },
  { shift: 0, width: 10 },
];
/** Enough to fill a GPU; each adds its own histogram to the common one once. */
const HISTOGRAM_GROUPS = 1024;
const NO_TIE = 0xffff_ffff;
/** Stretches with a tile of their own that is not full, beyond those of a whole vector. */
const MOST_PARTS = 4096;

export class DeviceSelection implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #length: number;
  readonly #state: GPUBuffer;
  readonly #bins: GPUBuffer;
  /** Two counts for each tile of each part. */
  readonly #tiles: GPUBuffer;
  readonly #tileCount: number;
  readonly #indices: GPUBuffer;
  readonly #values: GPUBuffer;
  readonly #capacity: number;

  /** `capacity`: no selection has more entries. */
  constructor(gpu: GpuDevice, length: number, capacity: number) {
    this.#gpu = gpu;
    this.#length = length;
    this.#capacity = capacity;
    this.#state = gpu.allocate(4 * STATE_WORDS);
    this.#bins = gpu.allocate(4 * BINS);
    // A vector may come in more parts than its own device would make of it.
    this.#tileCount = Math.ceil(length / SELECTION_TILE) + MOST_PARTS;
    this.#tiles = gpu.allocate(8 * this.#tileCount);
    this.#indices = gpu.allocate(4 * capacity);
    this.#values = gpu.allocate(4 * capacity);
  }

  /**
   * Exactly min(k, n) entries with the largest |x|, ties by lower index. x must be finite.
   * @param clear whether x gets zeros in their stead
   */
  selectTopK(x: GpuVector, k: number, clear: boolean): GpuStream {
    const selected = Math.min(k, this.#length);
    if (selected > this.#capacity) {
      throw new Error(`internal: ${selected} entries of at most ${this.#capacity}`);
    }
    const stream = this.#stream(selected);
    if (selected === 0) return stream;
    const { commands } = this.#gpu;
    const state = new Uint32Array(STATE_WORDS);
    state[STATE.remaining] = selected;
    commands.write(this.#state, 0, state);
    let above = 31;
    for (const { shift, width } of DIGITS) {
      this.#histogram(x, shift, above);
      commands.dispatch(choose, 1, this.#counters(), { shift, width });
      above = shift;
    }
    this.#compact(x, clear);
    return stream;
  }

  /** Counts x by the digit at `shift`, where it agrees with the prefix from `above` on. */
  #histogram(x: GpuVector, shift: number, above: number): void {
    for (const { length, parts } of windowsOf([x])) {
      const tiles = Math.ceil(length / SELECTION_TILE);
      const groups = Math.min(tiles, HISTOGRAM_GROUPS);
      this.#gpu.commands.dispatch(
        histogram,
        groups,
        { x: parts[0], ...this.#counters() },
        { length, shift, above, tiles, groups },
      );
    }
  }

  /**
   * The entries with |x| ≥ threshold (≥ 0). Waits until the device knows how many.
   * @param clear whether x gets zeros in their stead
   */
  async selectAtLeast(
    x: GpuVector,
    threshold: number,
    clear: boolean,
  ): Promise<GpuStream> {
    if (this.#length === 0) return this.#stream(0);
    const { commands, ring } = this.#gpu;
    const state = new Uint32Array(STATE_WORDS);
    state[STATE.lower] = bitsOf(threshold);
    state[STATE.tie] = NO_TIE;
    commands.write(this.#state, 0, state);
    this.#compact(x, clear);
    const selected = new Uint32Array(1);
    await ring.read(this.#state, 4 * STATE.count, new Uint8Array(selected.buffer));
    return this.#stream(selected[0]!);
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(
      this.#state,
      this.#bins,
      this.#tiles,
      this.#indices,
      this.#values,
    );
  }

  /** Counts by tiles, their places, and the entries to them. */
  #compact(x: GpuVector, clear: boolean): void {
    const { commands } = this.#gpu;
    const state = wholeOf(this.#state);
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
    const indices = wholeOf(this.#indices);
    const values = wholeOf(this.#values);
    let tile = 0;
    for (const { first, length, parts } of windowsOf([x])) {
      const own = Math.ceil(length / SELECTION_TILE);
      commands.dispatch(
        compact,
        own,
        { x: parts[0], state, tiles, indices, values },
        { length, first, tile, clear: Number(clear) },
      );
      tile += own;
    }
  }

  #counters() {
    return { state: wholeOf(this.#state), bins: wholeOf(this.#bins) };
  }

  #stream(selected: number): GpuStream {
    return { indices: this.#indices, values: this.#values, count: selected };
  }
}
