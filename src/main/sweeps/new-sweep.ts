/** Stores a checked sweep, so that it can be driven. */
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { SweepSummary } from '../../shared/sweep/sweep-status.ts';
import { newRunId } from '../runs/run-id.ts';
import type { RunStore } from '../store/run-store.ts';

/** @param driver the process that drives it from the beginning; default: none */
export const storeSweep = (
  { sweeps }: Pick<RunStore, 'sweeps'>,
  sweep: ExpandedSweep,
  atOnce: number,
  driver?: string,
): SweepSummary =>
  sweeps.create({ ...sweep, id: newRunId(), atOnce, createdAt: Date.now(), driver });
