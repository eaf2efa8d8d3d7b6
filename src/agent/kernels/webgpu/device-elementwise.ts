/** Elementwise work on vectors of a GPU, enqueued: only `firstNonFinite` waits. */
import { bitsOf, floatOf } from '../float-bits.ts';
import {
  add,
  blend,
  clearAt,
  firstNonFinite,
  gatherAt,
  ROWS_TILE,
  scale,
  scatterAdd,
  shiftBySign,
  valueFound,
} from '../wgsl/elementwise.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, wholeOf, type BufferRange, type GpuVector } from './gpu-vector.ts';

const NOTHING_FOUND = 0xffff_ffff;

/** An element that is NaN or infinite. */
export interface NonFiniteElement {
  readonly index: number;
  readonly value: number;
}

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
    this.#found = gpu.allocate(8);
  }

  /** out ← 0 */
  clear(out: GpuVector): void {
    for (const part of out.parts) this.#gpu.commands.clear(part);
  }

  /** out ← x, in separate memory. */
  copy(out: GpuVector, x: GpuVector): void {
    for (const { parts } of windowsOf([x, out])) {
      const [from, to] = parts as unknown as [BufferRange, BufferRange];
      this.#gpu.commands.copy(from, to.buffer, to.offset);
    }
  }

  /** out ← out + x */
  add(out: GpuVector, x: GpuVector): void {
    for (const { length, parts } of windowsOf([out, x])) {
      const [to, from] = parts as unknown as [BufferRange, BufferRange];
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

  /** out ← outFactor · out + xFactor · x, rounded to f32 after each operation. */
  blend(out: GpuVector, outFactor: number, x: GpuVector, xFactor: number): void {
    const parameters = { outFactor: bitsOf(outFactor), xFactor: bitsOf(xFactor) };
    for (const { length, parts } of windowsOf([out, x])) {
      const [to, from] = parts as unknown as [BufferRange, BufferRange];
      this.#gpu.commands.dispatch(
        blend,
        tilesOf(length),
        { out: to, x: from },
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

  /** The stream's values ← x at its indices. */
  gatherAt(x: GpuVector, { indices, values, count }: GpuStream): void {
    for (const { first, length, parts } of windowsOf([x])) {
      for (const pairs of chunksOf(count)) {
        this.#gpu.commands.dispatch(
          gatherAt,
          Math.ceil(pairs.length / 256),
          {
            indices: { buffer: indices, ...pairs },
            x: parts[0],
            out: { buffer: values, ...pairs },
          },
          { count: pairs.length, first, length },
        );
      }
    }
  }

  /** x[i] ← 0 for every index of the stream. */
  clearAt(x: GpuVector, { indices, count }: GpuStream): void {
    for (const { first, length, parts } of windowsOf([x])) {
      for (const pairs of chunksOf(count)) {
        this.#gpu.commands.dispatch(
          clearAt,
          Math.ceil(pairs.length / 256),
          { indices: { buffer: indices, ...pairs }, x: parts[0] },
          { count: pairs.length, first, length },
        );
      }
    }
  }

  /** out[i] ← out[i] + factor · value for every pair of the stream; indices are distinct. */
  scatterAdd(
    out: GpuVector,
    { indices, values, count }: GpuStream,
    factor: number,
  ): void {
    for (const { first, length, parts } of windowsOf([out])) {
      for (const pairs of chunksOf(count)) {
        this.#gpu.commands.dispatch(
          scatterAdd,
          Math.ceil(pairs.length / 256),
          {
            indices: { buffer: indices, ...pairs },
            values: { buffer: values, ...pairs },
            out: parts[0],
          },
          { count: pairs.length, factor: bitsOf(factor), first, length },
        );
      }
    }
  }

  /**
   * The first NaN or infinity at the time of the call, even if x changes while this waits
   * for the device. Only one call at a time.
   */
  async firstNonFinite(x: GpuVector): Promise<NonFiniteElement | undefined> {
    const { commands, ring } = this.#gpu;
    const found = wholeOf(this.#found);
    commands.write(this.#found, 0, Uint32Array.of(NOTHING_FOUND, 0));
    const windows = [...windowsOf([x])];
    for (const { first, length, parts } of windows) {
      const [part] = parts;
      commands.dispatch(
        firstNonFinite,
        tilesOf(length),
        { x: part, found },
        { length, first },
      );
    }
    for (const { first, length, parts } of windows) {
      const [part] = parts;
      commands.dispatch(valueFound, 1, { x: part, found }, { length, first });
    }
    const answer = new Uint32Array(2);
    await ring.read(this.#found, 0, new Uint8Array(answer.buffer));
    const [index, bits] = answer as unknown as [number, number];
    return index === NOTHING_FOUND ? undefined : { index, value: floatOf(bits) };
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#found);
  }
}

/** Pairs of a dispatch: one invocation each, of which it takes some 16 million. */
const CHUNK = 2 ** 23;

/** Splits `count` words into pieces for one dispatch each. */
function* chunksOf(count: number): Generator<Pick<BufferRange, 'offset' | 'length'>> {
  for (let at = 0; at < count; at += CHUNK) {
    yield { offset: 4 * at, length: Math.min(CHUNK, count - at) };
  }
}

const tilesOf = (length: number): number => Math.ceil(length / ROWS_TILE);
