/**
 * The number of runs of a figure that are made side by side. Ranks wait for one another, and for the one that evaluates, so a
 * single run leaves processors idle. What a run computes does not depend on what runs beside it; how long it takes
 * does, so runs whose times are judged are made one after another.
 */
import type { Figure } from './figure.ts';
import type { PlannedRun } from './planned-runs.ts';

/** Ranks for each processor: one that waits for every one that computes. */
const RANKS_PER_PROCESSOR = 2;
/** Each of them is followed by this process. */
const MOST = 6;
/** Bytes of memory that a rank of these small models takes, measured: 500 MB with PyTorch, 170 MB without. */
const RANK_BYTES = { torch: 0.5e9, own: 0.17e9 };

export interface Capacity {
  /** Processors that this process may use. */
  readonly processors: number;
  /** Bytes of memory that are left. */
  readonly memory: number;
}

/**
 * The number is at least two where there is memory and more than one processor, however many ranks they have: eight ranks of one
 * run do not keep two processors busy.
 * @param planned at least one run
 */
export function runsAtOnce(
  { timed }: Pick<Figure, 'timed'>,
  planned: readonly PlannedRun[],
  { memory, processors }: Capacity,
): number {
  if (timed === true || processors < 2) return 1;
  const specs = planned.map(({ spec }) => spec);
  const ranks = Math.max(...specs.map(({ world }) => world.ranks));
  const bytes = Math.max(
    ...specs.map(
      ({ backend, world }) =>
        world.ranks * RANK_BYTES[backend === 'torch' ? backend : 'own'],
    ),
  );
  const computing = Math.max(2, Math.floor((RANKS_PER_PROCESSOR * processors) / ranks));
  const most = Math.min(computing, processors, MOST, planned.length);
  return Math.max(1, Math.min(most, Math.floor(memory / bytes)));
}
