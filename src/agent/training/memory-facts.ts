import type { SizeCause } from './datasets/dataset.ts';

/** The sizes that follow from a workload. */
export interface MemoryFacts {
  /** Elements of the flat gradient. */
  readonly parameters: number;
  /** How many of them are in tables, whose weights and state stay outside the arena. */
  readonly inTables: number;
  /** State vectors of the optimiser. */
  readonly stateVectors: number;
  /** Whether the optimiser's steps are taken in the arena, on the CPU. */
  readonly stepsInArena: boolean;
  /** Bytes of a rank's samples, where they are known. */
  readonly samples?: number | undefined;
  /** What the size comes from, for errors, where a single value in a file decides. */
  readonly because?: SizeCause | undefined;
}
