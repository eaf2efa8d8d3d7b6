/**
 * The gradient outside of the arena, which is too small for it: bucket by bucket it is copied to a
 * window of the arena, with its residual, and its average back. Compressed by the CPU's kernels.
 *
 * Cost: two copies of the gradient and two of the residual in each exchange.
 */
import { failure } from '../../shared/errors/errors.ts';
import { normOf } from '../kernels/fixed-point.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { outsideVector } from '../memory/outside-memory.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import { largestOf, type Bucket } from '../plan/buckets.ts';
import { windowsOf, type WindowLayout } from '../plan/windows.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import { openBucket } from './arena-moves.ts';
import type { BucketSetup, GradientSite } from './gradient-site.ts';
import { ResidualMemory, type VectorMemory } from './residual-memory.ts';
import { WindowDesk } from './window-desk.ts';
import { WindowUndo } from './window-undo.ts';
import { WindowVector } from './window-vector.ts';

export interface WindowSiteOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  /** The flat gradient, outside of the arena: input and, averaged, output of an exchange. */
  readonly gradient: Float32Array;
  /** Ranks that exchange. */
  readonly ranks: number;
  /** Bytes that the arena may have. */
  readonly arenaBytes: number;
}

interface OpenWindow {
  readonly gradient: Region;
  readonly residual: Region | undefined;
}

export class WindowSite implements GradientSite {
  readonly isInMemory = true;
  readonly residual: ResidualMemory<Float32Array>;
  readonly undo: WindowUndo;
  readonly #options: WindowSiteOptions;
  readonly #desk: WindowDesk;
  #windows: readonly OpenWindow[] = [];

  constructor(options: WindowSiteOptions) {
    this.#options = options;
    this.#desk = new WindowDesk(options.arena, options.kernels);
    this.residual = new ResidualMemory(memoryOutside(options, this.#desk));
    this.undo = new WindowUndo({ ...options, residual: this.residual });
  }

  /** @throws GradwireError `ARENA_EXHAUSTED` */
  prepare(buckets: readonly Bucket[]): void {
    this.#close();
    const layout = windowsOf(buckets, this.#options);
    if (layout === undefined) throw this.#tooLarge(buckets);
    this.#windows = this.#open(layout);
  }

  predecessor(index: number): number | undefined {
    const before = index - this.#windows.length;
    return before < 0 ? undefined : before;
  }

  open(setup: BucketSetup): GradientBucket {
    const { arena, gradient } = this.#options;
    const { bucket } = setup;
    const window = this.#windows[bucket.index % this.#windows.length]!;
    const at = (flat: Float32Array, { offset }: Region): WindowVector =>
      new WindowVector(arena, offset, flat, bucket);
    return openBucket(this.#options, setup, at(gradient, window.gradient), () =>
      at(this.residual.keep(), window.residual!),
    );
  }

  /** The norm is that of `fixedSums` of each piece, whose squares are added up in f64. */
  clip(limit: number): number {
    const { gradient, kernels } = this.#options;
    const squares = this.#desk.finiteSquares(gradient, (x) => {
      const norm = normOf(kernels.quantization.fixedSums(x));
      return norm * norm;
    });
    const norm = squares === undefined ? 0 : Math.sqrt(squares);
    if (norm <= limit) return 1;
    this.#desk.scale(gradient, limit / norm);
    return limit / norm;
  }

  take(gradient: Vector): void {
    const { arena, clock } = this.#options;
    clock.measure('compress', () => {
      this.#options.gradient.set(arena.f32(gradient));
    });
  }

  settled(): undefined {
    return undefined;
  }

  takeNotices(): [] {
    return [];
  }

  [Symbol.dispose](): void {
    this.#close();
    this.#desk[Symbol.dispose]();
    this.residual[Symbol.dispose]();
    this.undo[Symbol.dispose]();
  }

  #open(layout: WindowLayout): readonly OpenWindow[] {
    const { arena } = this.#options;
    return layout.map(({ hasResidual, length }) => ({
      gradient: arena.allocateVector(length),
      residual: hasResidual ? arena.allocateVector(length) : undefined,
    }));
  }

  #close(): void {
    for (const { gradient, residual } of this.#windows) {
      this.#options.arena.release(gradient);
      if (residual !== undefined) this.#options.arena.release(residual);
    }
    this.#windows = [];
  }

  #tooLarge(buckets: readonly Bucket[]): Error {
    const { length, tensors } = largestOf(buckets);
    return failure(
      'ARENA_EXHAUSTED',
      `the arena has no room for a bucket of ${length} elements (${tensors[0]!.name}) ` +
        'beside what methods and payloads need',
      { next: 'Split the largest tensor, use smaller buckets, or another method.' },
    );
  }
}

function memoryOutside(
  { clock, gradient }: WindowSiteOptions,
  desk: WindowDesk,
): VectorMemory<Float32Array> {
  const whole = [{ start: 0, length: gradient.length }];
  return {
    whole,
    allocate: () => outsideVector(gradient.length),
    release: () => {
      // The collector does, once nobody has it.
    },
    add: (out, x) => {
      desk.add(out, x, whole);
    },
    scale: (x, factor) => {
      desk.scale(x, factor);
    },
    move: (out, x, ranges) => {
      if (out !== undefined) desk.add(out, x, ranges);
      for (const { length, start } of ranges) x.fill(0, start, start + length);
    },
    squaredNorm: (x, ranges) => desk.squaredNorm(x, ranges),
    values: (vector) => vector,
    set: (vector, values) => {
      vector.set(values);
    },
    inArena: (vector, work, ranges) => desk.inArena(vector, work, ranges),
    addToGradient: (x, ranges = whole) => {
      clock.measure('apply', () => {
        desk.add(gradient, x, ranges);
      });
    },
  };
}
