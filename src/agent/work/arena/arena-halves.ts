/** Payloads of 16 bits by the CPU's kernels. */
import type { HalfPrecisionKernels } from '../../kernels/half-precision.ts';
import type { RandomStream } from '../../kernels/random.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import type { HalfType } from '../../memory/value-type.ts';
import type { HalfCoder } from '../halves.ts';

export class ArenaHalves implements HalfCoder<Vector> {
  readonly #kernels: HalfPrecisionKernels;
  readonly #type: HalfType;
  readonly #region: Region;

  /** @param region 2 bytes per element */
  constructor(kernels: HalfPrecisionKernels, type: HalfType, region: Region) {
    this.#kernels = kernels;
    this.#type = type;
    this.#region = region;
  }

  encode(x: Vector, factor: number, noise?: RandomStream): Region {
    const data = { offset: this.#region.offset, bytes: 2 * x.length };
    this.#kernels.narrow(this.#type, x, factor, data, noise);
    return data;
  }

  decode(data: Region, out: Vector): void {
    this.#kernels.widen(this.#type, data, out);
  }
}
