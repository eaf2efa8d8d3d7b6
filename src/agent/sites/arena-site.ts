/**
 * The gradient in the arena, compressed by the CPU's kernels. All work is done when a
 * call returns.
 */
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import { openBucket } from './arena-moves.ts';
import { ArenaUndo } from './arena-undo.ts';
import { BucketVector } from './bucket-vector.ts';
import { rangeOf } from './flat-range.ts';
import type { BucketSetup, GradientSite } from './gradient-site.ts';
import { ResidualMemory, type VectorMemory } from './residual-memory.ts';
import { ArenaWork } from '../work/arena/arena-work.ts';
import { clipNorm } from '../work/clip-norm.ts';
import { run, type Answer } from '../work/steps.ts';

export interface ArenaSiteOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  /** The flat gradient: input and, averaged, output of an exchange. */
  readonly gradient: Vector;
}

export class ArenaSite implements GradientSite {
  readonly isInMemory = true;
  readonly residual: ResidualMemory<Region & Vector>;
  readonly undo: ArenaUndo;
  readonly #options: ArenaSiteOptions;

  constructor(options: ArenaSiteOptions) {
    this.#options = options;
    this.residual = new ResidualMemory(memoryBeside(options));
    this.undo = new ArenaUndo(options, this.residual);
  }

  open(setup: BucketSetup): GradientBucket {
    const { arena, gradient, kernels } = this.#options;
    const at = (flat: Vector): BucketVector =>
      new BucketVector(arena, kernels, flat, setup.bucket);
    return openBucket(this.#options, setup, at(gradient), () =>
      at(this.residual.keep()),
    );
  }

  clip(norm: number): Answer<number> {
    const { arena, gradient, kernels } = this.#options;
    if (kernels.firstNonFinite(gradient) >= 0) return 1;
    return run(clipNorm(new ArenaWork(arena, kernels), gradient, norm));
  }

  take(gradient: Vector): void {
    const { clock, kernels } = this.#options;
    clock.measure('compress', () => {
      kernels.copy(this.#options.gradient, gradient);
    });
  }

  settled(): undefined {
    return undefined;
  }

  takeNotices(): [] {
    return [];
  }

  [Symbol.dispose](): void {
    this.residual[Symbol.dispose]();
    this.undo[Symbol.dispose]();
  }
}

function memoryBeside(options: ArenaSiteOptions): VectorMemory<Region & Vector> {
  const { arena, clock, gradient, kernels } = options;
  return {
    whole: [{ start: 0, length: gradient.length }],
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
    scale: (x, factor) => {
      kernels.scale(x, factor);
    },
    move: (out, x, ranges) => {
      for (const range of ranges) {
        if (out !== undefined) kernels.add(rangeOf(out, range), rangeOf(x, range));
        kernels.fill(rangeOf(x, range), 0);
      }
    },
    squaredNorm: (x, ranges) =>
      ranges === undefined
        ? kernels.squaredNorm(x)
        : ranges.reduce(
            (sum, range) => sum + kernels.squaredNorm(rangeOf(x, range)),
            0,
          ),
    values: (vector) => arena.f32(vector),
    set: (vector, values) => {
      arena.f32(vector).set(values);
    },
    inArena: async (vector, work, ranges) => {
      if (ranges === undefined) await work(vector);
      for (const range of ranges ?? []) await work(rangeOf(vector, range));
    },
    addToGradient: (x, ranges = [{ start: 0, length: gradient.length }]) => {
      clock.measure('apply', () => {
        for (const range of ranges) {
          kernels.add(rangeOf(gradient, range), rangeOf(x, range));
        }
      });
    },
  };
}
