/** 16-bit values on the GPU, as `kernels/half-precision.ts` defines them; enqueued. */
import type { HalfType } from '../../memory/value-type.ts';
import { bitsOf } from '../float-bits.ts';
import type { RandomStream } from '../random.ts';
import { ROWS_TILE } from '../wgsl/elementwise.ts';
import { narrowHalves, widenHalves } from '../wgsl/half-precision.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

/** Numbers of the types, as in wgsl/half-precision.ts. */
const FORMATS: Readonly<Record<HalfType, number>> = { bfloat16: 0, binary16: 1 };

export class DeviceHalfPrecision {
  readonly #gpu: GpuDevice;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
  }

  /**
   * codes ← x · factor, two to a word.
   * @param codes words that are zeros
   * @param noise names the random bits; default: round to nearest
   */
  narrow(
    type: HalfType,
    x: GpuVector,
    factor: number,
    codes: BufferRange,
    noise?: RandomStream,
  ): void {
    for (const { first, length, parts } of windowsOf([x])) {
      this.#gpu.commands.dispatch(
        narrowHalves,
        Math.ceil(length / ROWS_TILE),
        { x: parts[0], codes },
        {
          length,
          first,
          format: FORMATS[type],
          factor: bitsOf(factor),
          random: Number(noise !== undefined),
          seed: noise?.seed ?? 0,
          rank: noise?.rank ?? 0,
          place: noise?.bucket ?? 0,
          iteration: noise?.iteration ?? 0,
          purpose: noise?.purpose ?? 0,
        },
      );
    }
  }

  /** out ← values of codes */
  widen(type: HalfType, codes: BufferRange, out: GpuVector): void {
    for (const { first, length, parts } of windowsOf([out])) {
      this.#gpu.commands.dispatch(
        widenHalves,
        Math.ceil(length / ROWS_TILE),
        { codes, out: parts[0] },
        { length, first, format: FORMATS[type] },
      );
    }
  }
}
