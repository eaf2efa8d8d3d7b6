/**
 * The gradient on the GPU on which it was computed: compensated, selected or rounded,
 * packed, and averaged there. Only payloads go to the arena and come back. What the
 * device cannot do is read back, done by the CPU's kernels, and reported.
 */
import { residualOf } from '../methods/method.ts';
import type { Notice } from '../../shared/records/notice.ts';
import {
  BucketCompressor,
  type GradientBucket,
  type NotFiniteElement,
} from '../methods/bucket-compressor.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { sliceOf, type GpuVector } from '../kernels/webgpu/gpu-vector.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import { BeyondDevice } from '../work/beyond-device.ts';
import { clipNorm } from '../work/clip-norm.ts';
import { run } from '../work/steps.ts';
import { GpuWork } from '../work/webgpu/gpu-work.ts';
import type { GpuGradient } from './gpu-gradient.ts';
import type { BucketSetup, GradientSite } from './gradient-site.ts';
import { compressReadBack } from './readback.ts';
import { ResidualMemory, type VectorMemory } from './residual-memory.ts';

export interface DeviceSiteOptions {
  readonly arena: Arena;
  /** The CPU's kernels, for payloads in the arena. */
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  readonly gradient: GpuGradient;
}

export class DeviceSite implements GradientSite {
  readonly isInMemory = false;
  readonly residual: ResidualMemory<GpuVector>;
  readonly #options: DeviceSiteOptions;
  /** Elements, by method, that are read back but not reported yet. */
  readonly #readBack = new Map<string, number>();

  constructor(options: DeviceSiteOptions) {
    this.#options = options;
    this.residual = new ResidualMemory(memoryBeside(options));
  }

  open({ bucket, method, ...rest }: BucketSetup): GradientBucket {
    const { arena, gradient: flat, kernels } = this.#options;
    const { gpu } = flat;
    const gradient = within(flat.vector, bucket);
    const isKept = residualOf(method, rest.parameters) !== 'none';
    const residual = isKept ? within(this.residual.keep(), bucket) : undefined;
    const { index, length, tensors } = bucket;
    const context = { ...rest, bucket: index, length, tensors };
    const work = new GpuWork(gpu, arena, kernels);
    const begin = (): Promise<NotFiniteElement | undefined> =>
      work.device.elementwise.firstNonFinite(gradient);
    try {
      return new BucketCompressor({
        method,
        context: { ...context, work, residual },
        gradient,
        moves: { begin },
      });
    } catch (error) {
      if (!(error instanceof BeyondDevice)) throw error;
    }
    this.#tellReadBack(method.id, length);
    return compressReadBack({
      gpu,
      arena,
      kernels,
      method,
      context,
      gradient,
      residual,
    });
  }

  async clip(norm: number): Promise<number> {
    const { kernels, vector } = this.#options.gradient;
    const { elementwise, fixedSums } = kernels;
    const found = await elementwise.firstNonFinite(vector);
    if (found !== undefined) return 1;
    const work: Parameters<typeof clipNorm<GpuVector>>[0] = {
      fixedSums: (vectors) => fixedSums.of(vectors),
      scale: (x, factor) => {
        elementwise.scale(x, factor);
      },
    };
    return run(clipNorm(work, vector, norm));
  }

  take(gradient: Vector): void {
    const { arena, gradient: own } = this.#options;
    own.gpu.write(own.vector, arena.f32(gradient));
  }

  /** @throws GradwireError `GPU_LOST` */
  async settled(): Promise<void> {
    const { gpu } = this.#options.gradient;
    gpu.commands.flush();
    await gpu.watch(() => gpu.device.queue.onSubmittedWorkDone());
  }

  takeNotices(): Notice[] {
    const { length } = this.#options.gradient.vector;
    const notices = [...this.#readBack].map(([method, elements]) => ({
      level: 'warning' as const,
      code: 'METHOD_NOT_ON_GPU' as const,
      message:
        `this GPU cannot run ${method} with these parameters: ${elements} of ` +
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

/** A bucket of a flat vector: at least one part for each of its runs. */
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
    scale: (x, factor) => {
      elementwise.scale(x, factor);
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
        sum += length * (variance + mean * mean);
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
