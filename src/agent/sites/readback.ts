/**
 * Runs a method that a GPU cannot run on a gradient that is on the GPU: the gradient is read back
 * and compressed in the arena by the CPU's kernels, and overwritten by the average. The residual
 * stays on the GPU, where it may be rescaled or drained between two exchanges: it is read before
 * each and written back with the average.
 *
 * Cost in addition to the method's: the bucket and its residual are transferred both ways.
 */
import type { JsonObject } from '../../shared/checks/json.ts';
import { BucketCompressor, type GradientBucket } from '../methods/bucket-compressor.ts';
import type { CompressorContext, MethodDefinition } from '../methods/method.ts';
import { DeviceElementwise } from '../kernels/webgpu/device-elementwise.ts';
import type { GpuDevice } from '../kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../kernels/webgpu/gpu-vector.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena } from '../memory/arena.ts';
import { ArenaWork } from '../work/arena/arena-work.ts';

export interface ReadbackOptions {
  readonly gpu: GpuDevice;
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly method: MethodDefinition;
  readonly context: Omit<CompressorContext<JsonObject>, 'work' | 'residual'>;
  readonly gradient: GpuVector;
  /** Residual, given if the method keeps one. */
  readonly residual: GpuVector | undefined;
}

export function compressReadBack(options: ReadbackOptions): GradientBucket {
  const { arena, context, gpu, gradient: home, kernels, method, residual } = options;
  const work = new ArenaWork(arena, kernels);
  const elementwise = new DeviceElementwise(gpu);
  const gradient = work.vector(home.length);
  const kept =
    residual === undefined
      ? undefined
      : { home: residual, copy: work.vector(home.length) };
  return new BucketCompressor({
    method,
    context: { ...context, work, residual: kept?.copy },
    gradient,
    moves: {
      begin: () => elementwise.firstNonFinite(home),
      load: async () => {
        const reads = [gpu.read(home, arena.f32(gradient))];
        if (kept !== undefined) reads.push(gpu.read(kept.home, arena.f32(kept.copy)));
        await Promise.all(reads);
      },
      store: () => {
        gpu.write(home, arena.f32(gradient));
        if (kept !== undefined) gpu.write(kept.home, arena.f32(kept.copy));
      },
      [Symbol.dispose]: () => {
        elementwise[Symbol.dispose]();
      },
    },
  });
}
