/**
 * Thin factors of matrices on a GPU: the expensive products with the matrices are computed
 * there. Factors have the same layout on the device as in the arena.
 */
import { DeviceLowRank, type GpuMatrix } from '../../kernels/webgpu/device-low-rank.ts';
import type { GpuDevice } from '../../kernels/webgpu/gpu-device.ts';
import {
  windowsOf,
  type BufferRange,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import type { Arena, Vector } from '../../memory/arena.ts';
import type { FactoredShape, FactorRoom, Factors } from '../factors.ts';

export interface FactorPlace {
  readonly gpu: GpuDevice;
  readonly arena: Arena;
  /** Memory in the arena, zeros. */
  readonly memory: Vector;
}

export class GpuFactors implements Factors<GpuVector>, Disposable {
  readonly memory: Vector;
  readonly lefts: Vector;
  readonly rights: Vector;
  readonly #gpu: GpuDevice;
  readonly #arena: Arena;
  readonly #products: DeviceLowRank;
  readonly #lefts: GPUBuffer;
  readonly #rights: GPUBuffer;

  constructor({ gpu, arena, memory }: FactorPlace, room: FactorRoom) {
    const { lefts, rights, widest } = room;
    this.#gpu = gpu;
    this.#arena = arena;
    this.memory = memory;
    this.lefts = { offset: memory.offset, length: lefts };
    this.rights = { offset: memory.offset + 4 * lefts, length: rights };
    this.#products = new DeviceLowRank(gpu, widest);
    this.#lefts = gpu.allocate(4 * lefts);
    this.#rights = gpu.allocate(4 * rights);
  }

  fetchLefts(): Promise<void> {
    return this.#fetch(this.#lefts, this.lefts);
  }

  fetchRights(): Promise<void> {
    return this.#fetch(this.#rights, this.rights);
  }

  sendLefts(): void {
    this.#gpu.commands.write(this.#lefts, 0, this.#arena.f32(this.lefts));
  }

  sendRights(): void {
    this.#gpu.commands.write(this.#rights, 0, this.#arena.f32(this.rights));
  }

  copyTo(x: GpuVector, at: number): void {
    for (const { first, length, parts } of windowsOf([x])) {
      const [to] = parts;
      const from = { buffer: this.#lefts, offset: 4 * (at + first), length };
      this.#gpu.commands.copy(from, to.buffer, to.offset);
    }
  }

  copyFrom(x: GpuVector, at: number): void {
    for (const { first, parts } of windowsOf([x])) {
      this.#gpu.commands.copy(parts[0], this.#lefts, 4 * (at + first));
    }
  }

  timesFactor(matrix: GpuVector, shape: FactoredShape): void {
    const [left, right] = this.#of(shape);
    this.#products.timesFactor(matrixOf(matrix, shape), right, left);
  }

  transposedTimesFactor(matrix: GpuVector, shape: FactoredShape): void {
    const [left, right] = this.#of(shape);
    this.#products.transposedTimesFactor(matrixOf(matrix, shape), left, right);
  }

  addProduct(matrix: GpuVector, shape: FactoredShape, factor: number): void {
    const [left, right] = this.#of(shape);
    this.#products.addProduct(matrixOf(matrix, shape), left, right, factor);
  }

  [Symbol.dispose](): void {
    this.#products[Symbol.dispose]();
    this.#gpu.destroy(this.#lefts, this.#rights);
  }

  async #fetch(buffer: GPUBuffer, { offset, length }: Vector): Promise<void> {
    await this.#gpu.ring.read(buffer, 0, this.#arena.u8(offset, 4 * length));
  }

  #of({ left, right, rank, rows, columns }: FactoredShape): [BufferRange, BufferRange] {
    return [
      { buffer: this.#lefts, offset: 4 * left, length: rank * rows },
      { buffer: this.#rights, offset: 4 * right, length: rank * columns },
    ];
  }
}

function matrixOf(elements: GpuVector, { rows, columns }: FactoredShape): GpuMatrix {
  return { elements, rows, columns };
}
