import type { SizeCause } from './datasets/dataset.ts';

export interface MemoryTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** First element in the flat gradient. */
  readonly start: number;
  readonly length: number;
  /** Whether it is a table, whose weights and state stay outside the arena. */
  readonly isTable: boolean;
}

/** Memory of a step, bytes. */
export interface StepBytes {
  /** The results that lie in memory at once. */
  readonly computing: number;
  /** The heap that the library needs to trace and compile the step, most of it once. */
  readonly compiling: number;
}

/** The sizes that follow from a workload. */
export interface MemoryFacts {
  /** The tensors, in the order of the flat gradient. */
  readonly tensors: readonly MemoryTensor[];
  /** Whether there are gradients alone, of no weights; default: no. */
  readonly isWeightless?: boolean | undefined;
  /** State vectors of the optimiser. */
  readonly stateVectors: number;
  /** Whether the optimiser's steps are taken in the arena, on the CPU. */
  readonly stepsInArena: boolean;
  /** Bytes of samples, where they are known: those that the ranks share, and those that each has. */
  readonly samples?: { readonly shared: number; readonly each: number } | undefined;
  /** Test samples of all ranks whose scores are put in order (AUC); default: 0. */
  readonly scores?: number | undefined;
  /** The value in a file that the size comes from, for errors, where a single one decides. */
  readonly because?: SizeCause | undefined;
}

/** The facts of a rank that has only some of the tensors. */
export function factsOf(
  facts: MemoryFacts,
  has: (tensor: MemoryTensor) => boolean,
): MemoryFacts {
  let start = 0;
  const tensors = facts.tensors.filter(has).map((tensor) => {
    const placed = { ...tensor, start };
    start += tensor.length;
    return placed;
  });
  return { ...facts, tensors };
}
