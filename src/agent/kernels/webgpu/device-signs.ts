/** Signs with two means for each run on the GPU, as `kernels/quantization.ts` defines them. */
import { ROWS_TILE } from '../wgsl/elementwise.ts';
import { addSigns, takeSigns } from '../wgsl/signs.ts';
import type { DeviceFixedSums } from './device-fixed-sums.ts';
import type { GpuDevice } from './gpu-device.ts';
import { sliceOf, windowsOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

export class DeviceSigns {
  readonly #gpu: GpuDevice;
  readonly #sums: DeviceFixedSums;

  constructor(gpu: GpuDevice, sums: DeviceFixedSums) {
    this.#gpu = gpu;
    this.#sums = sums;
  }

  /**
   * Enqueues the means of x and its signs; x ← x − the values that they represent.
   * @param means two words for each run
   * @param signs a bit for each element, in words that are zeros
   */
  take(x: GpuVector, runLength: number, means: BufferRange, signs: BufferRange): void {
    this.#sums.signMeans(x, runLength, means);
    for (const { first, length, parts } of windowsOf([x])) {
      this.#gpu.commands.dispatch(
        takeSigns,
        Math.ceil(length / ROWS_TILE),
        { x: parts[0], means, signs },
        { length, first, runLength },
      );
    }
  }

  /**
   * Writes the values that signs represent to `length` elements of `out` from `first` on,
   * a multiple of 32.
   * @param means of the runs from that of `first` on
   * @param signs of the elements from `first` on
   * @param keep whether they are added to existing values
   */
  add(
    out: GpuVector,
    first: number,
    length: number,
    runLength: number,
    means: BufferRange,
    signs: BufferRange,
    keep: boolean,
  ): void {
    for (const window of windowsOf([sliceOf(out, first, length)])) {
      this.#gpu.commands.dispatch(
        addSigns,
        Math.ceil(window.length / ROWS_TILE),
        { means, signs, out: window.parts[0] },
        {
          length: window.length,
          first: first + window.first,
          runLength,
          keep: Number(keep),
          meansFrom: Math.floor(first / runLength),
          signsFrom: first / 32,
        },
      );
    }
  }
}
