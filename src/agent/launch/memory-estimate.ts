/**
 * The memory that a rank needs, part by part, before anything is started. Some parts are certain
 * and lie in its arena: a run that does not fit by these cannot run. The others are estimates, for
 * warnings and `gradwire plan`. Intermediate results of the model depend on more than sizes, so only
 * `gradwire plan` has them, which traces a step; whatever is on a GPU is left out.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { formatBytes, formatCount } from '../../shared/words/units.ts';
import { ARENA_BYTES } from '../memory/arena.ts';
import { planBuckets, type Bucket } from '../plan/buckets.ts';
import { keptLength, payloadBytes, residualLength } from '../plan/exchange-bytes.ts';
import { neededWindows, windowBytes } from '../plan/windows.ts';
import {
  asynchronousParts,
  velocityBytes,
  type AsynchronousMemory,
} from './asynchronous-memory.ts';
import type { MemoryFacts, MemoryTensor, StepBytes } from '../training/memory-facts.ts';

export interface MemoryPart {
  readonly name: string;
  readonly bytes: number;
  /** Whether an arena without room for it cannot run. */
  readonly isInArena: boolean;
}

/** Numbers of a spec that decide on memory, beside its workload and its plans. */
export interface MemorySetting {
  /** Ranks that share the samples and exchange gradients. */
  readonly ranks: number;
  /** Further vectors as long as the gradient (`stepVectors`). */
  readonly vectors: number;
  /** Memory of a step of the model, where it is known; default: not counted. */
  readonly step?: StepBytes | undefined;
  /** Whether PyTorch computes, in a process of its own; default: not. */
  readonly usesTorch?: boolean | undefined;
  /** Whether there are checkpoints at intervals; default: none. */
  readonly keepsCheckpoints?: boolean | undefined;
  /** The rank's part in asynchronous training; default: ranks wait for each other. */
  readonly asynchronous?: AsynchronousMemory | undefined;
}

const F32 = 4;

/** The part that is there where gradient and residual lie outside of the arena. */
const WINDOWS = 'windows';

/**
 * A worker before it has any model: Node, its threads, jax-js and their compiled code. Measured
 * (docs/benchmarks.md).
 */
const PROCESS_BYTES = 150e6;

/** A process with PyTorch 2.13 that has computed a first gradient on the CPU. Measured. */
const TORCH_BYTES = 240e6;

/** Scores on their way through a ring of ranks (`collectives/rank-pairs.ts`). */
const SCORE_ROOM_BYTES = 2 ** 19;

const lengthOf = (tensors: readonly MemoryTensor[]): number =>
  tensors.reduce((sum, { length }) => sum + length, 0);

export function memoryParts(
  facts: MemoryFacts,
  plans: readonly ExchangePlan[],
  setting: MemorySetting,
): readonly MemoryPart[] {
  const { asynchronous, keepsCheckpoints = false, ranks, step, vectors } = setting;
  const { usesTorch = false } = setting;
  const { isWeightless = false, samples, scores = 0, stateVectors, tensors } = facts;
  const { stepsInArena } = facts;
  const all = lengthOf(tensors);
  const inTables = lengthOf(tensors.filter(({ isTable }) => isTable));
  const [whole, tables] = isWeightless ? [0, 0] : [all - inTables, inTables];
  const buckets = plans.map((plan) => planBuckets(tensors, plan));
  const most = (of: (each: readonly Bucket[]) => number): number =>
    Math.max(0, ...buckets.map(of));
  // Weights in the arena leave no room for windows.
  const windows = isWeightless
    ? neededWindows(tensors, plans, { arenaBytes: ARENA_BYTES, ranks })
    : undefined;
  const isInside = windows === undefined;
  const residual = F32 * most(residualLength);
  const method = F32 * most(keptLength);
  const weights = F32 * (whole + tables);
  const state = stateVectors * weights;
  // A checkpoint copies all that it has; else weights are compared at the end.
  const checkpoint = state + residual + method;
  const served = asynchronous === undefined ? 0 : velocityBytes(asynchronous, all);
  const parts = [
    { name: 'gradient', bytes: F32 * all, isInArena: isInside },
    { name: 'residual', bytes: residual, isInArena: isInside },
    {
      name: WINDOWS,
      bytes: Math.max(0, ...(windows ?? []).map(windowBytes)),
      isInArena: true,
    },
    { name: 'weights', bytes: F32 * whole, isInArena: stepsInArena },
    {
      name: 'optimiser',
      bytes: F32 * whole * stateVectors,
      isInArena: stepsInArena,
    },
    estimate('tables', F32 * tables * (1 + stateVectors)),
    estimate('method', method),
    estimate(
      'payloads',
      most((each) => payloadBytes(each, ranks)),
    ),
    estimate('steps', F32 * vectors * all),
    ...(asynchronous === undefined
      ? []
      : asynchronousParts(asynchronous, all, weights + state)),
    estimate('computing', step?.computing ?? 0),
    estimate('compiling', step?.compiling ?? 0),
    estimate('copies', weights + (keepsCheckpoints ? checkpoint + served : 0)),
    estimate(
      'samples',
      samples === undefined ? 0 : Math.ceil(samples.shared / ranks) + samples.each,
    ),
    estimate(
      'scores',
      scores === 0 ? 0 : F32 * Math.ceil(scores / ranks) + SCORE_ROOM_BYTES,
    ),
    estimate('process', PROCESS_BYTES),
    estimate('PyTorch', usesTorch ? TORCH_BYTES : 0),
  ];
  return parts.filter(({ bytes }) => bytes > 0);
}

/** Whether the gradient lies outside of the arena. */
export const hasWindows = (parts: readonly MemoryPart[]): boolean =>
  parts.some(({ name }) => name === WINDOWS);

const estimate = (name: string, bytes: number): MemoryPart => {
  return { name, bytes, isInArena: false };
};

export const bytesIn = (parts: readonly MemoryPart[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

const listed = (parts: readonly MemoryPart[]): string =>
  parts.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`).join(', ');

/** The parts of several ranks together. */
function addedParts(
  ofRanks: readonly (readonly MemoryPart[])[],
): readonly MemoryPart[] {
  const sums = new Map<string, MemoryPart>();
  for (const part of ofRanks.flat()) {
    const bytes = part.bytes + (sums.get(part.name)?.bytes ?? 0);
    sums.set(part.name, { ...part, bytes });
  }
  return [...sums.values()];
}

/** @throws GradwireError `MEMORY_TOO_SMALL` where a rank's arena cannot hold its parts */
export function requireArena(
  parts: readonly MemoryPart[],
  { because }: Pick<MemoryFacts, 'because'> = {},
): void {
  const within = parts.filter(({ isInArena }) => isInArena);
  const needed = bytesIn(within);
  if (needed <= ARENA_BYTES) return;
  const cause = because === undefined ? '' : `; the size comes from ${because.what}`;
  throw inputError(
    'MEMORY_TOO_SMALL',
    `a rank needs at least ${formatCount(needed)} bytes in its arena, which has ` +
      `${formatCount(ARENA_BYTES)}: ${listed(within)}${cause}`,
    {
      place: because?.place ?? 'workload.model',
      next:
        because === undefined
          ? 'Use a smaller model, or a method without a residual.'
          : 'Correct that value, or number the features without gaps.',
    },
  );
}

/** The warning that the ranks of a machine may not fit its memory; undefined where they do. */
export function memoryWarning(
  ofRanks: readonly (readonly MemoryPart[])[],
  { available }: { readonly available: number },
): string | undefined {
  const parts = addedParts(ofRanks);
  const needed = bytesIn(parts);
  if (needed <= available) return undefined;
  const whose =
    ofRanks.length === 1 ? 'its rank needs' : `its ${ofRanks.length} ranks need`;
  return (
    `this machine has ${formatBytes(available)} of memory left, but ${whose} about ` +
    `${formatBytes(needed)}: ${listed(parts)}`
  );
}
