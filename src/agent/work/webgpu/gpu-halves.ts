/** Payloads of 16 bits on a GPU: only the codes move between device and arena. */
import type { RandomStream } from '../../kernels/random.ts';
import { wholeOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Region } from '../../memory/arena.ts';
import type { HalfType } from '../../memory/value-type.ts';
import type { HalfCoder } from '../halves.ts';
import type { GpuTools } from './gpu-tools.ts';

export class GpuHalves implements HalfCoder<GpuVector> {
  readonly #work: GpuTools;
  readonly #type: HalfType;
  readonly #codes: GPUBuffer;
  readonly #region: Region;

  /** @throws BeyondDevice where a binding cannot hold the codes */
  constructor(work: GpuTools, type: HalfType, length: number) {
    work.requireBindable(wordsOf(length));
    this.#work = work;
    this.#type = type;
    this.#codes = work.buffer(4 * Math.max(1, wordsOf(length)));
    this.#region = work.region(4 * wordsOf(length));
  }

  async encode(x: GpuVector, factor: number, noise?: RandomStream): Promise<Region> {
    const { arena, device } = this.#work;
    const { commands, ring } = device.gpu;
    const words = wordsOf(x.length);
    const codes = { ...wholeOf(this.#codes), length: words };
    commands.clear(codes);
    device.halfPrecision.narrow(this.#type, x, factor, codes, noise);
    await ring.read(this.#codes, 0, arena.u8(this.#region.offset, 4 * words));
    return { offset: this.#region.offset, bytes: 2 * x.length };
  }

  decode({ offset }: Region, out: GpuVector): void {
    const { arena, device } = this.#work;
    const words = wordsOf(out.length);
    // Of an odd number the last word has two bytes of what follows: allocations are whole words.
    device.gpu.commands.write(this.#codes, 0, arena.u32(offset, words));
    const codes = { ...wholeOf(this.#codes), length: words };
    device.halfPrecision.widen(this.#type, codes, out);
  }
}

const wordsOf = (length: number): number => Math.ceil(length / 2);
