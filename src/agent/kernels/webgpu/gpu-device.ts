/**
 * A GPU as the kernels see it: a WebGPU device with its limits, its compiled kernels, one
 * stream of commands and one ring of staging buffers. The device is opened here, or
 * shared by its owner: jax-js shares its own, so that gradients need not leave the GPU to
 * be compressed.
 *
 * The caller owns what it allocates; `close` ends everything, and destroys the device if
 * it was opened here.
 */
import { failure } from '../../../shared/errors/errors.ts';
import { CommandStream } from './command-stream.ts';
import { findAdapter, gpuUnavailable } from './dawn.ts';
import { DeviceFaults } from './device-faults.ts';
import type { BufferRange, GpuVector } from './gpu-vector.ts';
import { PipelineCache } from './pipeline-cache.ts';
import { StagingRing } from './staging-ring.ts';

/**
 * No part of a vector is longer, so that a workgroup for each 2,048 elements stays within
 * the 65,535 workgroups of a dispatch.
 */
const LONGEST_PART = 2 ** 26;

export interface GpuOptions {
  /** Whether kernels may use subgroup operations, if the device has them. */
  readonly subgroups?: boolean | undefined;
  /**
   * Elements of a vector's longest part, a multiple of 64; fewer if limits require it.
   */
  readonly partElements?: number | undefined;
  /**
   * Bytes that a kernel may reach in one buffer, 256 or more; fewer if limits require it.
   */
  readonly bindableBytes?: number | undefined;
  /** Workgroups of a dispatch that may be cut; fewer if limits require it. */
  readonly workgroups?: number | undefined;
}

export class GpuDevice implements Disposable {
  readonly device: GPUDevice;
  /** Display name of the GPU or driver that computes. */
  readonly name: string;
  readonly subgroups: boolean;
  /** Bytes that a kernel can reach in one buffer. */
  readonly bindableBytes: number;
  /** Elements of a vector's longest part. */
  readonly partElements: number;
  readonly #workgroups: number;
  readonly commands: CommandStream;
  readonly ring: StagingRing;
  /**
   * Keeps Dawn alive if it was started here: its devices fail once it is
   * garbage-collected.
   */
  readonly #dawn: GPU | undefined;
  readonly #faults: DeviceFaults;
  #closed = false;

  constructor(device: GPUDevice, name: string, options: GpuOptions, dawn?: GPU) {
    const { limits } = device;
    this.device = device;
    this.name = name;
    this.#dawn = dawn;
    this.subgroups = (options.subgroups ?? true) && device.features.has('subgroups');
    this.bindableBytes = Math.min(
      options.bindableBytes ?? Infinity,
      limits.maxStorageBufferBindingSize,
      limits.maxBufferSize,
    );
    // Parts begin where a binding may begin: at multiples of 256 bytes.
    const most = Math.min(LONGEST_PART, Math.floor(this.bindableBytes / 256) * 64);
    this.partElements = Math.min(options.partElements ?? LONGEST_PART, most);
    this.#workgroups = Math.min(
      options.workgroups ?? Infinity,
      limits.maxComputeWorkgroupsPerDimension,
    );
    const pipelines = new PipelineCache(device, this.subgroups);
    this.commands = new CommandStream(device, pipelines);
    this.#faults = new DeviceFaults(device, name);
    this.ring = new StagingRing(device, this.commands, this.#faults);
  }

  /** @throws what went wrong on the device since it was opened, as `DeviceFaults` */
  check(): void {
    this.#faults.check();
  }

  /** Results of the device. @throws as `check`, rather than what they fail with */
  watch<T>(results: () => Promise<T>): Promise<T> {
    return this.#faults.watch(results);
  }

  /**
   * A buffer that kernels read and write, zeroed.
   * @throws GradwireError `GPU_MEMORY` if it cannot be that large
   */
  allocate(bytes: number): GPUBuffer {
    const size = Math.max(4, Math.ceil(bytes / 4) * 4);
    if (size > this.device.limits.maxBufferSize) {
      throw failure(
        'GPU_MEMORY',
        `${this.name} cannot allocate a buffer of ${size} bytes`,
        {
          next: 'Use "backend: wasm", or smaller buckets.',
        },
      );
    }
    return this.device.createBuffer({
      size,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
  }

  /** A vector of zeros, in as many buffers as it needs. Released by `release`. */
  allocateVector(length: number): GpuVector {
    const parts: BufferRange[] = [];
    for (let first = 0; first < length; first += this.partElements) {
      const elements = Math.min(this.partElements, length - first);
      parts.push({ buffer: this.allocate(4 * elements), offset: 0, length: elements });
    }
    return { length, parts };
  }

  /** Dispatches of this many workgroups in all; `firstGroup` is the first of each. */
  *dispatchesOf(
    workgroups: number,
  ): Generator<{ readonly firstGroup: number; readonly groups: number }> {
    for (let first = 0; first < workgroups; first += this.#workgroups) {
      const groups = Math.min(this.#workgroups, workgroups - first);
      yield { firstGroup: first, groups };
    }
  }

  /** A vector at the beginning of a given buffer. */
  vectorIn(buffer: GPUBuffer, length: number): GpuVector {
    if (buffer.size < 4 * length) {
      throw new Error(`internal: ${length} elements in a buffer of ${buffer.size}`);
    }
    const parts: BufferRange[] = [];
    for (let first = 0; first < length; first += this.partElements) {
      const elements = Math.min(this.partElements, length - first);
      parts.push({ buffer, offset: 4 * first, length: elements });
    }
    return { length, parts };
  }

  /** Frees a vector from `allocateVector`. */
  release(vector: GpuVector): void {
    this.destroy(...vector.parts.map(({ buffer }) => buffer));
  }

  /** Frees buffers, after the commands that use them. */
  destroy(...buffers: readonly GPUBuffer[]): void {
    this.commands.flush();
    for (const buffer of buffers) buffer.destroy();
  }

  /** Writes from host memory; the array may be changed as soon as this returns. */
  write(vector: GpuVector, values: Float32Array): void {
    if (values.length !== vector.length) {
      throw new Error(`internal: ${values.length} values for ${vector.length}`);
    }
    let first = 0;
    for (const { buffer, offset, length } of vector.parts) {
      this.commands.write(buffer, offset, values.subarray(first, first + length));
      first += length;
    }
  }

  /** Reads to host memory. @throws as `check` */
  async read(vector: GpuVector, into: Float32Array): Promise<void> {
    if (into.length !== vector.length) {
      throw new Error(`internal: ${into.length} places for ${vector.length}`);
    }
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    const reads: Promise<void>[] = [];
    let first = 0;
    for (const { buffer, offset, length } of vector.parts) {
      const target = bytes.subarray(4 * first, 4 * (first + length));
      reads.push(this.ring.read(buffer, offset, target));
      first += length;
    }
    await Promise.all(reads);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#faults.close();
    this.ring.close();
    this.commands.close();
    if (this.#dawn !== undefined) this.device.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens a new device on the best adapter, with the adapter's full limits.
 * @throws GradwireError `BACKEND_UNAVAILABLE`
 */
export async function openGpuDevice(
  options: GpuOptions & {
    /** Whether a driver that computes on the CPU is acceptable; default: yes. */
    readonly acceptSoftware?: boolean;
    /** Whether the device's clock is not rounded, for benchmarks; default: it is. */
    readonly exactClock?: boolean;
  } = {},
): Promise<GpuDevice> {
  const found = await findAdapter(options.acceptSoftware ?? true, options.exactClock);
  if (typeof found === 'string') throw gpuUnavailable(found);
  const { gpu, adapter, name } = found;
  const device = await adapter.requestDevice({
    requiredFeatures: (['subgroups', 'timestamp-query'] as const).filter((feature) =>
      adapter.features.has(feature),
    ),
    requiredLimits: {
      maxBufferSize: adapter.limits.maxBufferSize,
      maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
    },
  });
  return new GpuDevice(device, name, options, gpu);
}

/**
 * The kernels' view of a device that another owner has opened and will destroy, as
 * `getWebGPUDevice()` of jax-js gives it. Subgroups are used if it was opened with them.
 */
export function shareGpuDevice(device: GPUDevice, options: GpuOptions = {}): GpuDevice {
  const { description, device: model, vendor } = device.adapterInfo;
  return new GpuDevice(device, description || model || vendor || 'GPU', options);
}
