/**
 * The gradient on the GPU on which it was computed: compensated, selected or rounded,
 * packed, and averaged there. Payloads alone come to the arena and go back from it. What
 * the device has no way to do is read back and done by the CPU's kernels, and said so.
 */
import type { Notice } from '../../shared/records.ts';
import { createOnDevice } from '../compression/device/device-registry.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { DeviceKernels } from '../kernels/webgpu/device-kernels.ts';
import { sliceOf, type GpuVector } from '../kernels/webgpu/gpu-vector.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { GpuGradient } from './gpu-gradient.ts';
import type { BucketSetup, GradientBucket, GradientSite } from './gradient-site.ts';
import {
  ReadbackCompressor,
  type DeviceBucketCompressor,
} from './readback-compressor.ts';
import { ResidualMemory, type VectorMemory } from './residual-memory.ts';

export interface DeviceSiteOptions {
  readonly arena: Arena;
  /** The CPU's, for what happens to payloads in the arena. */
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  readonly gradient: GpuGradient;
}

export class DeviceSite implements GradientSite {
  readonly residual: ResidualMemory<GpuVector>;
  readonly #options: DeviceSiteOptions;
  /** Elements by method that are read back, not told yet. */
  readonly #readBack = new Map<string, number>();

  constructor(options: DeviceSiteOptions) {
    this.#options = options;
    this.residual = new ResidualMemory(memoryBeside(options));
  }

  open({ bucket, method, ...rest }: BucketSetup): GradientBucket {
    const { arena, clock, gradient: flat, kernels } = this.#options;
    const { gpu } = flat;
    // Scratch of its own: what buckets ask for overlaps in time.
    const device = new DeviceKernels(gpu);
    const gradient = within(flat.vector, bucket);
    const context = {
      ...rest,
      bucket: bucket.index,
      length: bucket.length,
      tensors: bucket.tensors,
      arena,
      kernels,
      residual:
        method.residual === 'none' ? undefined : within(this.residual.keep(), bucket),
      measure: <T>(phase: 'compress' | 'decompress', work: () => T) =>
        clock.follow(phase, work),
    };
    let compressor: DeviceBucketCompressor | undefined = createOnDevice(method.id, {
      ...context,
      device,
    });
    if (compressor === undefined) {
      compressor = new ReadbackCompressor(gpu, method, context);
      this.#tellReadBack(method.id, bucket.length);
    }
    const { exchange } = compressor;
    return {
      begin: () => device.elementwise.firstNonFinite(gradient),
      encode: (iteration) => compressor.encode(gradient, iteration),
      decode: (combined, iteration) => compressor.decode(combined, gradient, iteration),
      ...(exchange === undefined
        ? {}
        : {
            exchange: (iteration, communicate) =>
              exchange.call(compressor, gradient, iteration, communicate),
          }),
      saveState: async () => {
        await compressor.fetchState?.();
        return compressor.save();
      },
      restoreState: (state) => {
        compressor.restore(state);
      },
      [Symbol.dispose]: () => {
        compressor[Symbol.dispose]();
        device[Symbol.dispose]();
      },
    };
  }

  take(gradient: Vector): void {
    const { arena, gradient: own } = this.#options;
    own.gpu.write(own.vector, arena.f32(gradient));
  }

  /** @throws GradwireError `GPU_LOST` */
  async settled(): Promise<void> {
    const { gpu } = this.#options.gradient;
    gpu.commands.flush();
    try {
      await gpu.device.queue.onSubmittedWorkDone();
    } catch (error) {
      gpu.check();
      throw error;
    }
    gpu.check();
  }

  takeNotices(): Notice[] {
    const { length } = this.#options.gradient.vector;
    const notices = [...this.#readBack].map(([method, elements]) => ({
      level: 'warning' as const,
      code: 'METHOD_NOT_ON_GPU',
      message:
        `${method} with these parameters is not done on this GPU: ${elements} of ` +
        `${length} elements are read back and compressed on the CPU`,
    }));
    this.#readBack.clear();
    return notices;
  }

  [Symbol.dispose](): void {
    this.residual[Symbol.dispose]();
  }

  #tellReadBack(method: string, elements: number): void {
    this.#readBack.set(method, (this.#readBack.get(method) ?? 0) + elements);
  }
}

/** A bucket of a flat vector: as many parts as it has runs there, or more. */
function within(vector: GpuVector, { length, runs }: Bucket): GpuVector {
  const parts = runs.flatMap((run) => sliceOf(vector, run.flat, run.length).parts);
  return { length, parts };
}

function memoryBeside(options: DeviceSiteOptions): VectorMemory<GpuVector> {
  const { arena, gradient } = options;
  const { gpu, vector: flat } = gradient;
  const { elementwise, sums } = gradient.kernels;
  return {
    whole: [{ start: 0, length: flat.length }],
    allocate: () => gpu.allocateVector(flat.length),
    release: (vector) => {
      gpu.release(vector);
    },
    add: (out, x) => {
      elementwise.add(out, x);
    },
    move: (out, x, ranges) => {
      for (const { start, length } of ranges) {
        const from = sliceOf(x, start, length);
        if (out !== undefined) elementwise.add(sliceOf(out, start, length), from);
        elementwise.clear(from);
      }
    },
    squaredNorm: async (x, ranges = [{ start: 0, length: x.length }]) => {
      let sum = 0;
      for (const { start, length } of ranges) {
        const { mean, variance } = await sums.moments(sliceOf(x, start, length));
        sum += length * (variance + mean ** 2);
      }
      return sum;
    },
    values: async (vector) => {
      const values = new Float32Array(vector.length);
      await gpu.read(vector, values);
      return values;
    },
    set: (vector, values) => {
      gpu.write(vector, values);
    },
    inArena: async (vector, work) => {
      const region = arena.allocateVector(vector.length);
      try {
        const values = arena.f32(region);
        await gpu.read(vector, values);
        await work(region);
        gpu.write(vector, values);
      } finally {
        arena.release(region);
      }
    },
    addToGradient: (x) => {
      elementwise.add(flat, x);
    },
  };
}
