/**
 * The backend `webgpu` for vectors that begin and end on the host: a GPU, its kernels, and
 * compressors that take their gradient from the arena to the device and the average
 * back. Who has gradients on the device already uses `createOnDevice` and saves both ways.
 */
import { inputError, type GradwireError } from '../../../shared/errors.ts';
import type { Vector } from '../../memory/arena.ts';
import { DeviceKernels } from '../../kernels/webgpu/device-kernels.ts';
import {
  openGpuDevice,
  type GpuDevice,
  type GpuOptions,
} from '../../kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Region } from '../../memory/arena.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from '../method.ts';
import type { DeviceCompressor } from './device-method.ts';
import { createOnDevice } from './device-registry.ts';

/**
 * Opens the GPU of this machine; a software one counts.
 * @throws GradwireError `BACKEND_UNAVAILABLE`
 */
export async function openWebGpuBackend(
  options: GpuOptions = {},
): Promise<WebGpuBackend> {
  return new WebGpuBackend(await openGpuDevice(options));
}

export class WebGpuBackend implements Disposable {
  readonly gpu: GpuDevice;
  readonly kernels: DeviceKernels;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
    this.kernels = new DeviceKernels(gpu);
  }

  /** Display name of what computes. */
  get name(): string {
    return this.gpu.name;
  }

  /**
   * A compressor of the method for gradients in the arena. The residual is on the device;
   * `context.residual` follows it: it is read before the first encode and after `restore`,
   * and written by each decode.
   * @throws GradwireError `BACKEND_UNAVAILABLE` where the device cannot bind what it takes
   */
  createCompressor(method: MethodDefinition, context: CompressorContext): Compressor {
    const { length, residual } = context;
    const { gpu, kernels } = this;
    const own = residual === undefined ? undefined : gpu.allocateVector(length);
    try {
      const deviceContext = { ...context, device: kernels, residual: own };
      const compressor = createOnDevice(method.id, deviceContext);
      if (compressor === undefined) throw this.#beyond(method, length);
      return compressor.exchange === undefined
        ? new UploadingCompressor(gpu, context, compressor, own)
        : new UploadingExchange(gpu, context, compressor, own);
    } catch (error) {
      if (own !== undefined) gpu.release(own);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.kernels[Symbol.dispose]();
    this.gpu.close();
  }

  #beyond(method: MethodDefinition, length: number): GradwireError {
    const { bindableBytes, name } = this.gpu;
    return inputError(
      'BACKEND_UNAVAILABLE',
      `${method.id} of ${length} elements needs more than the ${bindableBytes} bytes that ` +
        `${name} binds at once`,
      {
        place: 'backend: webgpu',
        next: 'Use smaller buckets, or "backend: wasm": payloads are the same, byte for byte.',
      },
    );
  }
}

class UploadingCompressor implements Compressor {
  protected readonly compressor: DeviceCompressor;
  protected readonly gradient: GpuVector;
  readonly #gpu: GpuDevice;
  readonly #context: CompressorContext;
  readonly #residual: GpuVector | undefined;
  /** Whether the arena's residual is news to the device. */
  #stale = true;

  constructor(
    gpu: GpuDevice,
    context: CompressorContext,
    compressor: DeviceCompressor,
    residual: GpuVector | undefined,
  ) {
    this.#gpu = gpu;
    this.#context = context;
    this.compressor = compressor;
    this.gradient = gpu.allocateVector(context.length);
    this.#residual = residual;
  }

  async encode(gradient: Vector, iteration: number): Promise<Payload> {
    this.upload(gradient);
    return await this.compressor.encode(this.gradient, iteration);
  }

  async decode(
    combined: Combined,
    out: Vector,
    iteration: number,
  ): Promise<ExchangeStatistics> {
    const statistics = this.compressor.decode(combined, this.gradient, iteration);
    await this.download(out);
    return statistics;
  }

  parse(data: Region, iteration: number): Payload {
    return this.compressor.parse(data, iteration);
  }

  save(): Uint8Array {
    return this.compressor.save();
  }

  restore(state: Uint8Array): void {
    this.compressor.restore(state);
    this.#stale = true;
  }

  [Symbol.dispose](): void {
    this.compressor[Symbol.dispose]();
    this.#gpu.release(this.gradient);
    if (this.#residual !== undefined) this.#gpu.release(this.#residual);
  }

  protected upload(gradient: Vector): void {
    const { arena, residual } = this.#context;
    if (this.#stale && this.#residual !== undefined) {
      this.#gpu.write(this.#residual, arena.f32(residual!));
    }
    this.#stale = false;
    this.#gpu.write(this.gradient, arena.f32(gradient));
  }

  /** The average, and what is kept for the next iteration. */
  protected async download(out: Vector): Promise<void> {
    const { arena, residual } = this.#context;
    await this.#gpu.read(this.gradient, arena.f32(out));
    if (this.#residual !== undefined && !this.#stale) {
      await this.#gpu.read(this.#residual, arena.f32(residual!));
    }
    await this.compressor.fetchState?.();
  }
}

/** Of a method that talks more than once in an exchange. */
class UploadingExchange extends UploadingCompressor {
  async exchange(
    gradient: Vector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    this.upload(gradient);
    const statistics = await this.compressor.exchange!(
      this.gradient,
      iteration,
      communicate,
    );
    await this.download(gradient);
    return statistics;
  }
}
