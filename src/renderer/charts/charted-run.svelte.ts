/**
 * The data of every chart over iterations: a run's history within the chosen span, in
 * bins, updated with the feed's slow tick, and the current colours.
 */
import { useApp } from '../state/app.svelte.ts';
import type { RunFeed } from '../state/runs/run-feed.svelte.ts';
import type { Bin } from '../state/history/bin.ts';
import { CURVE_POINTS } from './curves.ts';
import { readPalette, type Palette } from './palette.ts';
import { spanAxis, spanRange, type Span } from './span.ts';

export interface ChartedRun {
  readonly bins: readonly Bin[];
  readonly axis: ReturnType<typeof spanAxis>;
  readonly palette: Palette;
}

/** Follows a run for a chart, and changes of the arguments. Called during a component's set-up. */
export function useChartedRun(feed: () => RunFeed, span: () => Span): ChartedRun {
  const { preferences } = useApp();
  const palette = $derived(readPalette(preferences.scheme, preferences.patterns));
  const length = $derived.by(() => {
    void feed().slow.tick;
    return feed().history?.length ?? 0;
  });
  const bins = $derived.by(() => {
    void feed().slow.tick;
    const range = spanRange(span(), length);
    return feed().history?.bins({ ...range, limit: CURVE_POINTS }) ?? [];
  });
  const axis = $derived(spanAxis(span(), length));
  return {
    get bins() {
      return bins;
    },
    get axis() {
      return axis;
    },
    get palette() {
      return palette;
    },
  };
}
