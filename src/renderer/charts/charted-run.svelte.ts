/**
 * What every chart over iterations draws from: a run's history within the chosen span, in
 * bins, brought up to date with the feed's slow tick, and the colours in force.
 */
import { useApp } from '../state/app.svelte.ts';
import type { RunFeed } from '../state/run-feed.svelte.ts';
import type { Bin } from '../state/run-history.ts';
import { CURVE_POINTS } from './curves.ts';
import { readPalette, type Palette } from './palette.ts';
import { spanAxis, spanRange, type Span } from './span.ts';

export interface ChartedRun {
  readonly bins: readonly Bin[];
  readonly axis: ReturnType<typeof spanAxis>;
  readonly palette: Palette;
}

/** To be called while a component is set up; the arguments are read as they change. */
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
