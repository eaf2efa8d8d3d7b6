/** The kernels of 16-bit values in WebAssembly, on one thread or several. */
import type { Region } from '../../memory/arena.ts';
import type { HalfType } from '../../memory/value-type.ts';
import {
  EXPONENT_BITS,
  requireHalves,
  type HalfPrecisionKernels,
} from '../half-precision.ts';
import type { RandomStream } from '../random.ts';
import type { At, Elements, Of } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';

type Halves = Elements<'halves'>;

/** Numbers of the types, as in assembly/half-precision.ts. */
const FORMATS: Readonly<Record<HalfType, number>> = { bfloat16: 0, binary16: 1 };
const FIRST = 0 as Of<'first'>;

export class WasmHalfPrecision implements HalfPrecisionKernels {
  readonly #pool: KernelPool;

  constructor(pool: KernelPool) {
    this.#pool = pool;
  }

  narrow(
    type: HalfType,
    { offset, length }: Elements<'x'>,
    factor: number,
    out: Region & At<'halves'>,
    noise?: RandomStream,
  ): void {
    requireHalves(out, length);
    const run = this.#pool.over(length);
    const format = FORMATS[type];
    if (noise === undefined) {
      run.narrow(offset, length, factor, out.offset, format);
      return;
    }
    const { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 } = noise;
    run.narrowRandomly(
      offset,
      length,
      factor,
      out.offset,
      format,
      this.#pool.tiles,
      FIRST,
      seed,
      rank,
      bucket,
      iteration,
      purpose,
    );
  }

  widen(type: HalfType, data: Region & At<'halves'>, out: Elements<'out'>): void {
    requireHalves(data, out.length);
    const run = this.#pool.over(out.length);
    run.widen(data.offset, out.length, out.offset, FORMATS[type]);
  }

  firstNonFinite(type: HalfType, { bytes, offset }: Region & At<'halves'>): number {
    const length = Math.floor(bytes / 2) as Of<'n'>;
    const run = this.#pool.over(length);
    const index = run.firstSpecial(offset, length, EXPONENT_BITS[type]);
    return index === length ? -1 : index;
  }

  add(type: HalfType, out: Halves, x: Halves): void {
    const run = this.#pool.over(out.length);
    run.addHalves(out.offset, x.offset, out.length, FORMATS[type]);
  }
}
