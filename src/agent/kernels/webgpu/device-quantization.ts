/**
 * Quantising on the GPU, as `kernels/quantization.ts` defines it: packed codes, which are
 * levels of a run's scale, and their values. A section's codes are computed in stretches,
 * so that one can be read while the next is computed.
 */
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
  type ScaleKind,
} from '../quantization.ts';
import type { RandomStream } from '../random.ts';
import { ROWS_TILE } from '../wgsl/elementwise.ts';
import {
  addCodes,
  divideFactors,
  groupOf,
  roundToCodes,
} from '../wgsl/quantization.ts';
import type { DeviceFixedSums } from './device-fixed-sums.ts';
import type { GpuDevice } from './gpu-device.ts';
import { sliceOf, windowsOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

/**
 * Elements whose codes are read, or written, at a time: a multiple of 512, so that their
 * words begin where a binding may.
 */
export const STRETCH = 2 ** 22;

export class DeviceQuantization {
  readonly #gpu: GpuDevice;

  readonly #sums: DeviceFixedSums;

  constructor(gpu: GpuDevice, sums: DeviceFixedSums) {
    this.#gpu = gpu;
    this.#sums = sums;
  }

  /**
   * Scales of the runs of x, and the factors by which they are rounded.
   * @param kind how scales are computed; `given`: they exist already
   */
  scalesOf(
    x: GpuVector,
    quantizer: Quantizer,
    kind: ScaleKind | 'given',
    scales: BufferRange,
    factors: BufferRange,
  ): void {
    const { levels, runLength } = quantizer;
    const runs = runsOf(x.length, runLength);
    if (kind === 'max') this.#sums.maxima(x, runLength, scales);
    else if (kind === 'l2') this.#sums.norms(x, runLength, scales);
    const ofRuns = (range: BufferRange): GpuVector => {
      return { length: runs, parts: [{ ...range, length: runs }] };
    };
    const vectors = [ofRuns(scales), ofRuns(factors)] as const;
    for (const { length, parts } of windowsOf(vectors, this.#gpu.partElements)) {
      const [from, to] = parts as unknown as [BufferRange, BufferRange];
      this.#gpu.commands.dispatch(
        divideFactors,
        Math.ceil(length / ROWS_TILE),
        { scales: from, factors: to },
        { length, levels },
      );
    }
  }

  /**
   * Packed codes of the elements from `first` on, a multiple of `STRETCH`, up to the end of
   * the stretch, to words that are zeros: `codes` begins with those of element 0.
   * @returns elements done
   */
  roundStretch(
    x: GpuVector,
    first: number,
    quantizer: Quantizer,
    noise: RandomStream,
    scales: BufferRange,
    factors: BufferRange,
    codes: BufferRange,
  ): number {
    const { levels, runLength } = quantizer;
    const bits = codeBits(levels);
    const group = groupOf(bits);
    const stretch = sliceOf(x, first, Math.min(STRETCH, x.length - first));
    for (const window of windowsOf([stretch])) {
      const from = first + window.first;
      const { length } = window;
      const groups = Math.ceil((from + length) / group) - Math.floor(from / group);
      this.#gpu.commands.dispatch(
        roundToCodes,
        Math.ceil(groups / 256),
        { x: window.parts[0], scales, factors, codes },
        {
          length,
          first: from,
          runLength,
          levels,
          bits,
          group,
          groups,
          seed: noise.seed,
          rank: noise.rank ?? 0,
          place: noise.bucket ?? 0,
          iteration: noise.iteration ?? 0,
          purpose: noise.purpose ?? 0,
        },
      );
    }
    return stretch.length;
  }

  /**
   * Values of codes to the elements of `out` from `first` on, a multiple of 32.
   * @param codes those of the elements from `first` on
   * @param units `unitWords` of the runs from that of `first` on
   * @param keep whether values are added to existing ones
   */
  addStretch(
    out: GpuVector,
    first: number,
    length: number,
    quantizer: Quantizer,
    units: BufferRange,
    codes: BufferRange,
    keep: boolean,
  ): void {
    const bits = codeBits(quantizer.levels);
    for (const window of windowsOf([sliceOf(out, first, length)])) {
      this.#gpu.commands.dispatch(
        addCodes,
        Math.ceil(window.length / ROWS_TILE),
        { codes, units, out: window.parts[0] },
        {
          length: window.length,
          first: first + window.first,
          runLength: quantizer.runLength,
          bits,
          keep: Number(keep),
          codesFrom: packedBytes(first, bits) / 4,
          unitsFrom: Math.floor(first / quantizer.runLength),
        },
      );
    }
  }
}
