/** The bars of phases of what a view shows, and the axis for them: both of the run at the same length. */
import type { Bin } from '../state/history/bin.ts';
import type { RunHistory } from '../state/history/run-history.ts';
import type { AxisRange } from './axis-range.ts';
import type { ChartView } from './chart-view.svelte.ts';
import { PHASE_BARS } from './phase-table.ts';
import { spanAxis, spanRange } from './span.ts';

interface ShownBars {
  readonly bins: readonly Bin[];
  readonly axis: AxisRange;
  /**
   * Whether bars come and go fast enough to be drawn at the full rate: those of single iterations,
   * on the axis that needs no measured places.
   */
  readonly isFast: boolean;
}

/** @param rank default: the mean over all */
export function barsOf(
  view: Pick<ChartView, 'kind' | 'lengthOf' | 'span'>,
  history: Pick<RunHistory, 'bins' | 'length'> | undefined,
  rank?: number,
): ShownBars {
  const { kind, span } = view;
  const length = view.lengthOf(history?.length ?? 0);
  const range = spanRange(span, length);
  return {
    bins: history?.bins({ ...range, limit: PHASE_BARS + 1, rank }) ?? [],
    axis: spanAxis(span, length),
    isFast: kind === 'iteration' && range.to - range.from <= PHASE_BARS,
  };
}
