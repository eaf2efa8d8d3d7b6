/** Buckets for compressors of the arena, wherever the gradient lies. */
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import {
  BucketCompressor,
  type GradientBucket,
  type Moves,
} from '../methods/bucket-compressor.ts';
import { residualOf, type MethodDefinition } from '../methods/method.ts';
import { ArenaWork } from '../work/arena/arena-work.ts';
import type { BucketSetup } from './gradient-site.ts';

/** A bucket's elements of a flat vector, in the arena during an exchange. */
export interface MovedVector extends Partial<Disposable> {
  readonly vector: Vector;
  /** Copies the elements from the flat vector. */
  load(): void;
  /** Copies them back. */
  store(): void;
}

interface CompressorMemory {
  readonly arena: Arena;
  readonly kernels: Kernels;
}

/**
 * Opens a bucket with its compressor.
 * @param keep the bucket's residual; called if the method keeps one
 */
export function openBucket(
  memory: CompressorMemory,
  { bucket, method, ...rest }: BucketSetup,
  within: MovedVector,
  keep: () => MovedVector,
): GradientBucket {
  const { index, length, tensors } = bucket;
  const kept = residualOf(method, rest.parameters) === 'none' ? undefined : keep();
  const work = new ArenaWork(memory.arena, memory.kernels);
  const residual = kept?.vector;
  return new BucketCompressor({
    method,
    context: { ...rest, bucket: index, length, tensors, work, residual },
    gradient: within.vector,
    moves: bucketMoves(memory, method, within, kept),
  });
}

/** @param kept the bucket's residual, if the method keeps one */
function bucketMoves(
  { arena, kernels }: CompressorMemory,
  method: Pick<MethodDefinition, 'residual'>,
  within: MovedVector,
  kept: MovedVector | undefined,
): Moves {
  const gradient = within.vector;
  const residual = kept?.vector;
  return {
    begin: (seen) => {
      within.load();
      kept?.load();
      if (seen) return undefined;
      const index = kernels.firstNonFinite(gradient);
      return index < 0 ? undefined : { index, value: arena.f32(gradient)[index]! };
    },
    ...(method.residual === 'gradient' && residual !== undefined
      ? { wanted: () => sumSquares(arena.f32(gradient), arena.f32(residual)) }
      : {}),
    store: () => {
      within.store();
      kept?.store();
    },
    [Symbol.dispose]: () => {
      within[Symbol.dispose]?.();
      kept?.[Symbol.dispose]?.();
    },
  };
}

/** ‖x + y‖² */
function sumSquares(x: Float32Array, y: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) {
    const value = x[i]! + y[i]!;
    sum += value * value;
  }
  return sum;
}
