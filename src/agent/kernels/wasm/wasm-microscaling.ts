/** The kernels of floats of 8 bits in WebAssembly, on one thread or several. */
import type { Region } from '../../memory/arena.ts';
import {
  FLOAT8,
  requireBlocks,
  type Float8Type,
  type MicroscalingKernels,
} from '../microscaling.ts';
import type { RandomStream } from '../random.ts';
import type { At, Elements, Of } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';

type Scales = Region & At<'blockScales'>;
type Codes = Region & At<'octets'>;

/** Numbers of the types, as in assembly/microscaling.ts. */
const FORMATS: Readonly<Record<Float8Type, number>> = { e4m3: 0, e5m2: 1 };
const FIRST = 0 as Of<'first'>;

export class WasmMicroscaling implements MicroscalingKernels {
  readonly #pool: KernelPool;

  constructor(pool: KernelPool) {
    this.#pool = pool;
  }

  encode(
    type: Float8Type,
    { offset, length }: Elements<'x'>,
    scales: Scales,
    codes: Codes,
    noise?: RandomStream,
  ): void {
    requireBlocks(length, scales, codes);
    const run = this.#pool.over(length);
    const format = FORMATS[type];
    if (noise === undefined) {
      run.encodeBlocks(offset, length, format, scales.offset, codes.offset);
      return;
    }
    const { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 } = noise;
    run.encodeBlocksRandomly(
      offset,
      length,
      format,
      scales.offset,
      codes.offset,
      this.#pool.tiles,
      FIRST,
      seed,
      rank,
      bucket,
      iteration,
      purpose,
    );
  }

  decode(type: Float8Type, scales: Scales, codes: Codes, out: Elements<'out'>): void {
    requireBlocks(out.length, scales, codes);
    const run = this.#pool.over(out.length);
    run.decodeBlocks(
      out.offset,
      out.length,
      FORMATS[type],
      scales.offset,
      codes.offset,
    );
  }

  firstNonFinite(type: Float8Type, { bytes, offset }: Codes): number {
    const length = bytes as Of<'n'>;
    const index = this.#pool
      .over(length)
      .firstAbove(offset, length, FLOAT8[type].largest);
    return index === length ? -1 : index;
  }
}
