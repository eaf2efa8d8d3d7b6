/**
 * The gradient in the arena, compressed by the CPU's kernels. Everything is done when its
 * call returns.
 */
import type { Arena, Region, Vector } from '../kernels/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { BucketSetup, GradientBucket, GradientSite } from './gradient-site.ts';
import { ResidualMemory, type VectorMemory } from './residual-memory.ts';

export interface ArenaSiteOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  /** The flat gradient: input and, averaged, output of an exchange. */
  readonly gradient: Vector;
}

export class ArenaSite implements GradientSite {
  readonly residual: ResidualMemory<Region & Vector>;
  readonly #options: ArenaSiteOptions;

  constructor(options: ArenaSiteOptions) {
    this.#options = options;
    this.residual = new ResidualMemory(memoryBeside(options));
  }

  open({ bucket, method, ...rest }: BucketSetup): GradientBucket {
    const { arena, clock, kernels } = this.#options;
    const { length, tensors } = bucket;
    const at = ({ offset }: Vector): Vector => ({
      offset: offset + 4 * bucket.start,
      length,
    });
    const gradient = at(this.#options.gradient);
    const compressor = method.create({
      ...rest,
      bucket: bucket.index,
      length,
      tensors,
      arena,
      kernels,
      residual: method.residual === 'none' ? undefined : at(this.residual.keep()),
      measure: (phase, work) => clock.measure(phase, work),
    });
    const exchange = compressor.exchange?.bind(compressor);
    return {
      firstNotFinite: () => {
        const index = kernels.firstNonFinite(gradient);
        return index < 0 ? undefined : { index, value: arena.f32(gradient)[index]! };
      },
      encode: (iteration) => compressor.encode(gradient, iteration),
      decode: (combined, iteration) => compressor.decode(combined, gradient, iteration),
      ...(exchange === undefined
        ? {}
        : {
            exchange: (iteration, communicate) =>
              exchange(gradient, iteration, communicate),
          }),
      [Symbol.dispose]: () => {
        compressor[Symbol.dispose]();
      },
    };
  }

  settled(): undefined {
    return undefined;
  }

  takeNotices(): readonly [] {
    return [];
  }
}

function memoryBeside(options: ArenaSiteOptions): VectorMemory<Region & Vector> {
  const { arena, clock, gradient, kernels } = options;
  return {
    allocate: () => {
      const vector = arena.allocateVector(gradient.length);
      kernels.fill(vector, 0);
      return vector;
    },
    release: (vector) => {
      arena.release(vector);
    },
    add: (out, x) => {
      kernels.add(out, x);
    },
    norm: (x) => Math.sqrt(kernels.squaredNorm(x)),
    inArena: (vector, work) => work(vector),
    addToGradient: (x) => {
      clock.measure('apply', () => {
        kernels.add(gradient, x);
      });
    },
  };
}
