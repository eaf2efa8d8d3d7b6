/**
 * A method that the GPU does not do, for a gradient that lies there: the gradient is read
 * back and compressed in the arena by the CPU's kernels, the average is written over it.
 * The residual is at home on the GPU: it is read once and written back with every average,
 * so that a method that follows finds it there.
 *
 * Cost beside the method's own: the bucket is transferred both ways, the residual one way.
 */
import type { JsonObject } from '../../shared/json.ts';
import type { DeviceCompressor } from '../compression/device/device-method.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from '../compression/method.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { GpuDevice } from '../kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../kernels/webgpu/gpu-vector.ts';

type OwnVector = Region & Vector;

export interface ReadbackContext extends Omit<
  CompressorContext<JsonObject>,
  'residual'
> {
  /** The bucket's residual, on the GPU; given where the method keeps one. */
  readonly residual: GpuVector | undefined;
}

/** What an exchange needs of a compressor whose gradient is on the GPU. */
export interface DeviceBucketCompressor
  extends Disposable, Pick<DeviceCompressor, 'fetchState' | 'save' | 'restore'> {
  encode(gradient: GpuVector, iteration: number): Promise<Payload>;
  decode(
    combined: Combined,
    out: GpuVector,
    iteration: number,
  ): ExchangeStatistics | Promise<ExchangeStatistics>;
  /** Of methods that talk more than once in an exchange. */
  readonly exchange?:
    | ((
        gradient: GpuVector,
        iteration: number,
        communicate: Communicate,
      ) => Promise<ExchangeStatistics>)
    | undefined;
}

export class ReadbackCompressor implements DeviceBucketCompressor {
  readonly #arena: Arena;
  readonly #gpu: GpuDevice;
  readonly #compressor: Compressor;
  readonly #gradient: OwnVector;
  readonly #residual:
    { readonly home: GpuVector; readonly copy: OwnVector } | undefined;
  #residualRead = false;
  readonly exchange: DeviceBucketCompressor['exchange'];

  constructor(gpu: GpuDevice, method: MethodDefinition, context: ReadbackContext) {
    const { arena, length, residual } = context;
    this.#arena = arena;
    this.#gpu = gpu;
    this.#gradient = arena.allocateVector(length);
    this.#residual =
      residual === undefined
        ? undefined
        : { home: residual, copy: arena.allocateVector(length) };
    const compressor = method.create({ ...context, residual: this.#residual?.copy });
    this.#compressor = compressor;
    if (compressor.exchange === undefined) return;
    this.exchange = async (gradient, iteration, communicate) => {
      await this.#read(gradient);
      const x = this.#gradient;
      const statistics = await compressor.exchange!(x, iteration, communicate);
      this.#write(gradient);
      return statistics;
    };
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    await this.#read(gradient);
    return await this.#compressor.encode(this.#gradient, iteration);
  }

  async decode(
    combined: Combined,
    out: GpuVector,
    iteration: number,
  ): Promise<ExchangeStatistics> {
    const x = this.#gradient;
    const statistics = await this.#compressor.decode(combined, x, iteration);
    this.#write(out);
    return statistics;
  }

  save(): Uint8Array {
    return this.#compressor.save();
  }

  restore(state: Uint8Array): void {
    this.#compressor.restore(state);
  }

  [Symbol.dispose](): void {
    this.#compressor[Symbol.dispose]();
    this.#arena.release(this.#gradient);
    if (this.#residual !== undefined) this.#arena.release(this.#residual.copy);
  }

  async #read(gradient: GpuVector): Promise<void> {
    const reads = [this.#gpu.read(gradient, this.#arena.f32(this.#gradient))];
    if (this.#residual !== undefined && !this.#residualRead) {
      const { home, copy } = this.#residual;
      reads.push(this.#gpu.read(home, this.#arena.f32(copy)));
      this.#residualRead = true;
    }
    await Promise.all(reads);
  }

  #write(out: GpuVector): void {
    this.#gpu.write(out, this.#arena.f32(this.#gradient));
    if (this.#residual === undefined) return;
    this.#gpu.write(this.#residual.home, this.#arena.f32(this.#residual.copy));
  }
}
