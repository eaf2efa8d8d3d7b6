/**
 * Means and moments of vectors on the GPU, far more accurate than 1e-6 (`wgsl/sums.ts`):
 * the device adds up tiles, and the host adds the tiles in f64.
 */
import { bitsOf } from '../float-bits.ts';
import type { Moments, TwoMeans } from '../kernels.ts';
import { SUM_TILE, SUM_WORDS, tileSquares, tileSums } from '../wgsl/sums.ts';
import type { GpuDevice } from './gpu-device.ts';
import { wholeOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

/** Sums of the elements of one sign. */
interface ClassSum {
  sum: number;
  count: number;
  /** No entry's magnitude reaches 2^exponent. */
  exponent: number;
}

interface SignSums {
  readonly plus: ClassSum;
  readonly minus: ClassSum;
}

/** Tiles that belong together. */
export interface TileRun {
  readonly first: number;
  readonly count: number;
}

export class DeviceSums implements Disposable {
  readonly #gpu: GpuDevice;
  #sums: GPUBuffer;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#sums = gpu.allocate(4 * SUM_WORDS);
  }

  /** The two means of each of some vectors, in one round trip to the device. */
  async twoMeans(vectors: readonly GpuVector[]): Promise<TwoMeans[]> {
    const sums = await this.#read(this.enqueueSums(vectors));
    return sums.map(({ plus, minus }) => ({
      plus: plus.count === 0 ? 0 : plus.sum / plus.count,
      minus: minus.count === 0 ? 0 : minus.sum / minus.count,
    }));
  }

  /** Mean and variance (divided by n); both 0 without elements. */
  async moments(x: GpuVector): Promise<Moments> {
    const n = x.length;
    if (n === 0) return { mean: 0, variance: 0 };
    const [sums] = await this.#read(this.enqueueSums([x]));
    const { plus, minus } = sums!;
    const mean = (plus.sum - minus.sum) / n;
    // Deviations are scaled to numbers below 1, so that no square exceeds f32.
    const exponent = Math.max(plus.exponent, minus.exponent);
    const lift = exponent < -62 ? 64 : exponent > 62 ? -64 : 0;
    const factor = 2 ** (-exponent - lift);
    const center = Math.fround(mean * 2 ** lift * factor);
    const runs = this.#enqueue([x], (part, tile) => {
      const { length } = part;
      this.#gpu.commands.dispatch(
        tileSquares,
        tilesOf(length),
        { x: part, sums: wholeOf(this.#sums) },
        {
          length,
          tile,
          lift: lift === 0 ? 0 : lift > 0 ? 1 : 2,
          factor: bitsOf(factor),
          mean: bitsOf(center),
        },
      );
    });
    const squares = await this.#read(runs);
    const apart = mean * 2 ** lift * factor - center;
    const spread = squares[0]!.plus.sum / n - apart * apart;
    return { mean, variance: Math.max(0, spread) * 2 ** exponent * 2 ** exponent };
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#sums);
  }

  /**
   * Computes the sums of the vectors' tiles and leaves them on the device, without
   * waiting.
   * @returns the tiles of each vector
   */
  enqueueSums(vectors: readonly GpuVector[]): TileRun[] {
    return this.#enqueue(vectors, (x, tile) => {
      const { length } = x;
      this.#gpu.commands.dispatch(
        tileSums,
        tilesOf(length),
        { x, sums: wholeOf(this.#sums) },
        { length, tile },
      );
    });
  }

  /** Dispatches for each part of each vector; each tile's sums have their own place. */
  #enqueue(
    vectors: readonly GpuVector[],
    dispatch: (x: BufferRange, tile: number) => void,
  ): TileRun[] {
    const runs: TileRun[] = [];
    let used = 0;
    for (const { parts } of vectors) {
      const first = used;
      for (const { length } of parts) used += tilesOf(length);
      runs.push({ first, count: used - first });
    }
    this.#reserve(used);
    let tile = 0;
    for (const { parts } of vectors) {
      for (const part of parts) {
        dispatch(part, tile);
        tile += tilesOf(part.length);
      }
    }
    return runs;
  }

  /** Adds up the tiles' sums. */
  async #read(runs: readonly TileRun[]): Promise<SignSums[]> {
    const used = runs.reduce((sum, { count }) => sum + count, 0);
    const words = new Uint32Array(SUM_WORDS * used);
    await this.#gpu.ring.read(this.#sums, 0, new Uint8Array(words.buffer));
    return runs.map((run) => ({
      plus: addTiles(words, run, 0),
      minus: addTiles(words, run, SUM_WORDS / 2),
    }));
  }

  #reserve(tiles: number): void {
    if (this.#sums.size >= 4 * SUM_WORDS * tiles) return;
    this.#gpu.destroy(this.#sums);
    this.#sums = this.#gpu.allocate(4 * SUM_WORDS * tiles);
  }
}

const tilesOf = (length: number): number => Math.ceil(length / SUM_TILE);

/** `from`: where the class begins within a tile's words. */
function addTiles(words: Uint32Array, { first, count }: TileRun, from: number) {
  const result: ClassSum = { sum: 0, count: 0, exponent: -149 };
  for (let tile = first; tile < first + count; tile++) {
    const at = SUM_WORDS * tile + from;
    const low = words[at]! + words[at + 1]! * 2 ** 22;
    const units = low + words[at + 2]! * 2 ** 44;
    const exponent = words[at + 4]!;
    // Units are 2⁻²⁷ of the last place of numbers with this exponent.
    result.sum += units * unitOf(exponent);
    result.count += words[at + 3]!;
    if (units > 0) result.exponent = Math.max(result.exponent, exponent - 126);
  }
  return result;
}

/** 2^(exponent − 150 − 27), which f64 holds for every exponent of f32. */
function unitOf(exponent: number): number {
  return 2 ** (exponent - 177);
}
