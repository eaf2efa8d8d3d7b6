/** A method at work on a vector of an arena. */
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import {
  BucketCompressor,
  type GradientBucket,
} from '../../../src/agent/methods/bucket-compressor.ts';
import type {
  CompressorContext,
  MethodDefinition,
} from '../../../src/agent/methods/method.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import type { Arena, Vector } from '../../../src/agent/memory/arena.ts';
import { ArenaWork } from '../../../src/agent/work/arena/arena-work.ts';

export interface Opening {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly method: MethodDefinition;
  readonly context: Omit<CompressorContext<JsonObject>, 'work'>;
  readonly gradient: Vector;
}

export function openInArena(opening: Opening): GradientBucket {
  const { arena, context, gradient, kernels, method } = opening;
  const work = new ArenaWork(arena, kernels);
  return new BucketCompressor({ method, context: { ...context, work }, gradient });
}
