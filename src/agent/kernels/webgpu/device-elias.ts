/** Elias ω codes on the GPU: turns packed codes into the same stream as on a CPU. */
import { FORM_CODES, type EliasForm } from '../quantization.ts';
import {
  BLOCK_WORDS,
  ELIAS_BLOCK,
  eliasCount,
  eliasPlace,
  eliasWrite,
} from '../wgsl/elias.ts';
import type { GpuDevice } from './gpu-device.ts';
import { wholeOf, type BufferRange } from './gpu-vector.ts';

/** The most bits of a stream that can be counted. */
const MOST_BITS = 2 ** 32 - 1;

/** Whether streams with a capacity of this many bytes can be encoded. */
export const takesStream = (capacity: number): boolean => 8 * capacity <= MOST_BITS;

export class DeviceElias implements Disposable {
  readonly #gpu: GpuDevice;
  #blocks: GPUBuffer;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#blocks = gpu.allocate(4 * BLOCK_WORDS);
  }

  /**
   * Enqueues the stream of n elements.
   * @param packed codes, of `bits` bits
   * @param out words for the longest stream, zeros
   * @param stream `STREAM_WORDS` words that will hold its length
   */
  encode(
    packed: BufferRange,
    n: number,
    bits: number,
    form: EliasForm,
    out: BufferRange,
    stream: BufferRange,
  ): void {
    const gpu = this.#gpu;
    const { commands } = gpu;
    const count = Math.ceil(n / ELIAS_BLOCK);
    // Even an empty stream states its form; a binding cannot be empty.
    const codes = { ...packed, length: Math.max(1, packed.length) };
    this.#reserve(count);
    const blocks = wholeOf(this.#blocks);
    const measured = { length: n, bits };
    for (const { firstGroup, groups } of gpu.dispatchesOf(count)) {
      commands.dispatch(
        eliasCount,
        groups,
        { codes, blocks },
        { ...measured, firstGroup },
      );
    }
    commands.dispatch(
      eliasPlace,
      1,
      { blocks, streams: stream },
      { count, length: n, form: FORM_CODES[form] },
    );
    for (const { firstGroup, groups } of gpu.dispatchesOf(Math.max(1, count))) {
      commands.dispatch(
        eliasWrite,
        groups,
        { codes, blocks, streams: stream, out },
        { ...measured, count, firstGroup },
      );
    }
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#blocks);
  }

  #reserve(count: number): void {
    if (this.#blocks.size >= 4 * BLOCK_WORDS * count) return;
    this.#gpu.destroy(this.#blocks);
    this.#blocks = this.#gpu.allocate(4 * BLOCK_WORDS * count);
  }
}
