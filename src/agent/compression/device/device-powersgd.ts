/**
 * `powersgd` on the GPU: the products with the gradient's matrices, which are the work, are
 * made there; the thin factors travel through the arena, where they are orthonormalised on
 * the way (`powersgd.ts`). Factors lie on the device as they do in the arena.
 */
import type { Region, Vector } from '../../memory/arena.ts';
import { DeviceLowRank, type GpuMatrix } from '../../kernels/webgpu/device-low-rank.ts';
import {
  sliceOf,
  windowsOf,
  type GpuPart,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import {
  layOut,
  prepareStart,
  type Factored,
  type LowRankLayout,
} from '../low-rank-layout.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { Communicate, ExchangeStatistics } from '../method.ts';
import { orthonormalize } from '../orthonormal.ts';
import { requireBytes } from '../payload-check.ts';
import { packState, unpackState } from '../saved-state.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';

interface Parameters {
  readonly rank: number;
  readonly warmStart: boolean;
  readonly warmupIterations: number;
}

const METHOD = 'powersgd';

export const powersgdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const layout = layOut(typed.tensors, typed.parameters.rank);
  const { first, length } = layout;
  if (!isBindable(typed, Math.max(first, length - first))) return undefined;
  return withDeviceWarmUp(typed, () => new PowerSgdOnDevice(typed, layout));
};

class PowerSgdOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  readonly #residual: GpuVector;
  readonly #layout: LowRankLayout;
  readonly #products: DeviceLowRank;
  /** Whole tensors, left factors, right factors. */
  readonly #memory: Vector & Region;
  /** On the device: all but the right factors. */
  readonly #firsts: GPUBuffer;
  readonly #rights: GPUBuffer;

  constructor(context: DeviceContext<Parameters>, layout: LowRankLayout) {
    const { arena, device, kernels, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${METHOD} without a residual`);
    }
    this.#context = context;
    this.#residual = residual;
    this.#layout = layout;
    const { first, length, matrices } = layout;
    const widest = Math.max(0, ...matrices.map(({ columns }) => columns));
    this.#products = new DeviceLowRank(device.gpu, widest);
    this.#firsts = device.gpu.allocate(4 * first);
    this.#rights = device.gpu.allocate(4 * (length - first));
    this.#memory = { ...arena.allocateVector(length), length };
    kernels.fill(this.#memory, 0);
  }

  async exchange(
    gradient: GpuVector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    const { kernels, world } = this.#context;
    const { first, length, wholes } = this.#layout;
    await this.#project(gradient, iteration);
    const left = this.#part(0, first);
    this.#take(await communicate({ operation: 'reduce', payload: dense(left) }), left);
    for (const whole of wholes) {
      kernels.scale(this.#part(whole.at, whole.length), 1 / world);
    }
    await this.#factor();
    const right = this.#part(first, length - first);
    if (right.length > 0) {
      const payload = dense(right);
      this.#take(await communicate({ operation: 'reduce', payload }), right);
      kernels.scale(right, 1 / world);
    }
    this.#write(gradient);
    return {};
  }

  /** What a rank alone would send: whole tensors and both factors. */
  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    if (this.#context.world !== 1) {
      throw new Error(`internal: ${METHOD} of several ranks takes two rounds`);
    }
    await this.#project(gradient, iteration);
    await this.#factor();
    return dense(this.#memory);
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    this.#take(combined, this.#memory);
    this.#uploadFirsts();
    this.#write(out);
    return {};
  }

  parse(data: Region): Payload {
    requireBytes(METHOD, data, 4 * this.#memory.length);
    return { kind: 'dense', length: this.#memory.length, data };
  }

  save(): Uint8Array {
    return packState(METHOD, this.#rightFactors());
  }

  restore(state: Uint8Array): void {
    unpackState(METHOD, state, this.#rightFactors());
  }

  [Symbol.dispose](): void {
    this.#products[Symbol.dispose]();
    this.#context.device.gpu.destroy(this.#firsts, this.#rights);
    this.#context.arena.release(this.#memory);
  }

  /** p, its whole tensors, and P = M·Q of its matrices; those that travel to the arena. */
  async #project(gradient: GpuVector, iteration: number): Promise<void> {
    const { elementwise, gpu } = this.#context.device;
    const { matrices, wholes } = this.#layout;
    const residual = this.#residual;
    elementwise.add(residual, gradient);
    prepareStart(this.#rightFactors(), this.#layout, { ...this.#context, iteration });
    this.#uploadRights();
    for (const whole of wholes) {
      const tensor = sliceOf(residual, whole.start, whole.length);
      for (const window of windowsOf([tensor])) {
        gpu.commands.copy(window.parts[0], this.#firsts, 4 * (whole.at + window.first));
      }
      elementwise.clear(tensor);
    }
    for (const matrix of matrices) {
      const [left, right] = this.#factors(matrix);
      this.#products.timesFactor(matrixIn(residual, matrix), right, left);
    }
    await this.#read(this.#firsts, this.#part(0, this.#layout.first));
  }

  /** P̂, Q = Mᵀ·P̂, and what these do not tell of M stays in the residual. */
  async #factor(): Promise<void> {
    const { arena } = this.#context;
    const { first, length, matrices } = this.#layout;
    for (const { left, rank, rows } of matrices) {
      orthonormalize(arena.f32(this.#part(left, rank * rows)), rows);
    }
    this.#uploadFirsts();
    for (const matrix of matrices) {
      const [left, right] = this.#factors(matrix);
      const kept = matrixIn(this.#residual, matrix);
      this.#products.transposedTimesFactor(kept, left, right);
      this.#products.addProduct(kept, left, right, -1);
    }
    await this.#read(this.#rights, this.#part(first, length - first));
  }

  /** The average; its right factors are in the arena, the rest on the device as well. */
  #write(out: GpuVector): void {
    const { elementwise, gpu } = this.#context.device;
    const { matrices, wholes } = this.#layout;
    this.#uploadRights();
    for (const whole of wholes) {
      const tensor = sliceOf(out, whole.start, whole.length);
      for (const window of windowsOf([tensor])) {
        const { length } = window;
        const offset = 4 * (whole.at + window.first);
        const [to] = window.parts;
        gpu.commands.copy(
          { buffer: this.#firsts, offset, length },
          to.buffer,
          to.offset,
        );
      }
    }
    for (const matrix of matrices) {
      const [left, right] = this.#factors(matrix);
      const target = matrixIn(out, matrix);
      elementwise.clear(target.elements);
      this.#products.addProduct(target, left, right, 1);
    }
  }

  /** Sums over ranks, to where the terms were. */
  #take(combined: Combined, into: Vector): void {
    if (combined.form !== 'dense') {
      throw new Error(`internal: factors cannot be ${combined.form}`);
    }
    const { offset } = combined.data;
    if (offset === into.offset) return;
    this.#context.kernels.copy(into, { offset, length: into.length });
  }

  #uploadFirsts(): void {
    const { arena, device } = this.#context;
    const values = arena.f32(this.#part(0, this.#layout.first));
    device.gpu.commands.write(this.#firsts, 0, values);
  }

  #uploadRights(): void {
    this.#context.device.gpu.commands.write(this.#rights, 0, this.#rightFactors());
  }

  async #read(buffer: GPUBuffer, { offset, length }: Vector): Promise<void> {
    const { arena, device } = this.#context;
    await device.gpu.ring.read(buffer, 0, arena.u8(offset, 4 * length));
  }

  /** On the device. */
  #factors({ left, right, rows, columns, rank }: Factored): [GpuPart, GpuPart] {
    const start = right - this.#layout.first;
    return [
      { buffer: this.#firsts, offset: 4 * left, length: rank * rows },
      { buffer: this.#rights, offset: 4 * start, length: rank * columns },
    ];
  }

  #rightFactors(): Float32Array {
    const { first, length } = this.#layout;
    return this.#context.arena.f32(this.#part(first, length - first));
  }

  #part(start: number, length: number): Vector {
    return { offset: this.#memory.offset + 4 * start, length };
  }
}

function matrixIn(vector: GpuVector, { start, rows, columns }: Factored): GpuMatrix {
  return { elements: sliceOf(vector, start, rows * columns), rows, columns };
}

function dense({ offset, length }: Vector): Payload {
  return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
}
