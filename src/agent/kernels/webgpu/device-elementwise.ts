/** Elementwise work on vectors of a GPU, enqueued: nothing here waits, but `firstNonFinite`. */
import {
  add,
  clearAt,
  firstNonFinite,
  ROWS_TILE,
  scale,
  scatterAdd,
  shiftBySign,
} from '../wgsl/elementwise.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, wholeOf, type GpuPart, type GpuVector } from './gpu-vector.ts';
import { bitsOf } from './pipeline-cache.ts';

const NOTHING_FOUND = 0xffff_ffff;

/** Pairs on the GPU: `count` indices, ascending, and as many values. */
export interface GpuStream {
  readonly indices: GPUBuffer;
  readonly values: GPUBuffer;
  readonly count: number;
}

export class DeviceElementwise implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #found: GPUBuffer;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#found = gpu.allocate(4);
  }

  /** out ← 0 */
  clear(out: GpuVector): void {
    for (const part of out.parts) this.#gpu.commands.clear(part);
  }

  /** out ← x, in memory of its own. */
  copy(out: GpuVector, x: GpuVector): void {
    for (const { parts } of windowsOf([x, out])) {
      const [from, to] = parts as unknown as [GpuPart, GpuPart];
      this.#gpu.commands.copy(from, to.buffer, to.offset);
    }
  }

  /** out ← out + x */
  add(out: GpuVector, x: GpuVector): void {
    for (const { length, parts } of windowsOf([out, x])) {
      const [to, from] = parts as unknown as [GpuPart, GpuPart];
      this.#gpu.commands.dispatch(
        add,
        tilesOf(length),
        { out: to, x: from },
        { length },
      );
    }
  }

  /** x ← x · factor */
  scale(x: GpuVector, factor: number): void {
    const parameters = { factor: bitsOf(factor) };
    for (const { length, parts } of windowsOf([x])) {
      const [part] = parts;
      this.#gpu.commands.dispatch(
        scale,
        tilesOf(length),
        { x: part },
        { length, ...parameters },
      );
    }
  }

  /** x ← x + plus where x ≥ 0, x − minus where x < 0, by the signs before the call. */
  shiftBySign(x: GpuVector, plus: number, minus: number): void {
    const parameters = { plus: bitsOf(plus), minus: bitsOf(-minus) };
    for (const { length, parts } of windowsOf([x])) {
      const [part] = parts;
      this.#gpu.commands.dispatch(
        shiftBySign,
        tilesOf(length),
        { x: part },
        { length, ...parameters },
      );
    }
  }

  /** x[i] ← 0 for every index of the stream. */
  clearAt(x: GpuVector, { indices, count }: GpuStream): void {
    for (const { first, length, parts } of windowsOf([x])) {
      const [part] = parts;
      this.#gpu.commands.dispatch(
        clearAt,
        Math.ceil(count / 256),
        { indices: { ...wholeOf(indices), length: count }, x: part },
        { count, first, length },
      );
    }
  }

  /** out[i] ← out[i] + factor · value for every pair of the stream; indices are distinct. */
  scatterAdd(
    out: GpuVector,
    { indices, values, count }: GpuStream,
    factor: number,
  ): void {
    for (const { first, length, parts } of windowsOf([out])) {
      const [part] = parts;
      this.#gpu.commands.dispatch(
        scatterAdd,
        Math.ceil(count / 256),
        {
          indices: { ...wholeOf(indices), length: count },
          values: { ...wholeOf(values), length: count },
          out: part,
        },
        { count, factor: bitsOf(factor), first, length },
      );
    }
  }

  /** Index of the first NaN or infinity, −1 where all are finite. Waits for the device. */
  async firstNonFinite(x: GpuVector): Promise<number> {
    const { commands, ring } = this.#gpu;
    commands.write(this.#found, 0, Uint32Array.of(NOTHING_FOUND));
    for (const { first, length, parts } of windowsOf([x])) {
      const [part] = parts;
      const found = wholeOf(this.#found);
      commands.dispatch(
        firstNonFinite,
        tilesOf(length),
        { x: part, found },
        { length, first },
      );
    }
    const answer = new Uint32Array(1);
    await ring.read(this.#found, 0, new Uint8Array(answer.buffer));
    return answer[0] === NOTHING_FOUND ? -1 : answer[0]!;
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#found);
  }
}

const tilesOf = (length: number): number => Math.ceil(length / ROWS_TILE);
