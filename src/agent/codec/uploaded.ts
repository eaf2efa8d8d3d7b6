/**
 * Runs a method on a GPU for a gradient in the arena: the gradient is written to the device
 * and the average is read back. The residual in the arena mirrors the device's: it is
 * uploaded before the first encode and after a restore, and updated by each decode.
 */
import { inputError } from '../../shared/errors/errors.ts';
import { BucketCompressor, type GradientBucket } from '../methods/bucket-compressor.ts';
import type { MethodDefinition } from '../methods/method.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { GpuDevice } from '../kernels/webgpu/gpu-device.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import { BeyondDevice } from '../work/beyond-device.ts';
import { GpuWork } from '../work/webgpu/gpu-work.ts';
import type { VectorContext } from './backend.ts';

export interface UploadedOptions {
  readonly gpu: GpuDevice;
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly method: MethodDefinition;
  readonly context: VectorContext;
  readonly gradient: Vector;
}

/** @throws GradwireError `BACKEND_UNAVAILABLE` */
export function compressUploaded(options: UploadedOptions): GradientBucket {
  const { arena, context, gpu, gradient: home, kernels, method } = options;
  const { length } = home;
  const work = new GpuWork(gpu, arena, kernels);
  const gradient = work.vector(length);
  const kept =
    context.residual === undefined
      ? undefined
      : { home: context.residual, copy: work.vector(length) };
  /** Whether the device lacks the arena's residual. */
  let stale = true;
  try {
    return new BucketCompressor({
      method,
      context: { ...context, work, residual: kept?.copy },
      gradient,
      moves: {
        load: () => {
          if (stale && kept !== undefined) gpu.write(kept.copy, arena.f32(kept.home));
          stale = false;
          gpu.write(gradient, arena.f32(home));
        },
        store: async () => {
          await gpu.read(gradient, arena.f32(home));
          if (kept !== undefined && !stale) {
            await gpu.read(kept.copy, arena.f32(kept.home));
          }
        },
        restored: () => {
          stale = true;
        },
      },
    });
  } catch (error) {
    if (!(error instanceof BeyondDevice)) throw error;
    const { bindableBytes, name } = gpu;
    throw inputError(
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
