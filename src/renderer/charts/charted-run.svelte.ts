/**
 * A run as its charts share it: the view, the history within its span in bins, the axis, the
 * markers and the current colours. Made once for a page, so that it is computed once.
 */
import { useApp } from '../state/app.svelte.ts';
import type { Bin } from '../state/history/bin.ts';
import { IterationClock } from '../state/history/iteration-clock.ts';
import type { RunEvent } from '../../shared/records/record-kinds.ts';
import type { RunFeed } from '../state/runs/run-feed.svelte.ts';
import type { RunNotes } from '../state/runs/run-notes.svelte.ts';
import { AxisMap, axisMapOf } from './axis-map.ts';
import type { AxisRange } from './axis-range.ts';
import type { ChartView } from './chart-view.svelte.ts';
import { CURVE_POINTS } from './curves.ts';
import { markersOf, nearIterationOf, type Marker } from './markers.ts';
import { readPalette, type Palette } from './palette.ts';
import { spanAxis, spanRange } from './span.ts';

export interface ChartedRun {
  readonly feed: RunFeed;
  readonly view: ChartView;
  /** Changes when what is shown may have changed. */
  readonly tick: number;
  /** Points of curves. */
  readonly bins: readonly Bin[];
  /** The range that is shown, in iterations. */
  readonly axis: AxisRange;
  readonly map: AxisMap;
  readonly markers: readonly Marker[];
  /** The iteration near which an event is marked that names none. */
  readonly nearIterationOf: (event: RunEvent) => number | undefined;
  readonly palette: Palette;
}

/** Follows a run for its charts. Called during a component's set-up. */
export function useChartedRun(
  feed: RunFeed,
  view: ChartView,
  notes: RunNotes,
): ChartedRun {
  const { preferences } = useApp();
  const palette = $derived(readPalette(preferences.scheme, preferences.patterns));
  const tick = $derived(view.isPaused ? -1 - feed.windowsRead : feed.slow.tick);
  const length = $derived.by(() => {
    void tick;
    return view.lengthOf(feed.history?.length ?? 0);
  });
  const bins = $derived.by(() => {
    void tick;
    const range = spanRange(view.span, length);
    return feed.history?.bins({ ...range, limit: CURVE_POINTS }) ?? [];
  });
  const axis = $derived(spanAxis(view.span, length));
  const whole = (): readonly Bin[] =>
    feed.history?.bins({ from: 0, to: length, limit: CURVE_POINTS }) ?? [];
  const map = $derived(
    view.kind === 'iteration'
      ? new AxisMap('iteration')
      : axisMapOf(view.kind, { whole: whole(), part: bins, length }),
  );
  /** Moments, for events that name no iteration. */
  const clock = $derived.by(() => {
    void tick;
    return feed.history && new IterationClock(feed.history, bins);
  });
  const iterationAt = (at: number): number | undefined => clock?.near(at);
  const markers = $derived(
    markersOf(feed.events, iterationAt, notes.all).filter(
      ({ iteration }) => iteration <= length,
    ),
  );
  return {
    feed,
    view,
    get tick() {
      return tick;
    },
    get map() {
      return map;
    },
    get bins() {
      return bins;
    },
    get axis() {
      return axis;
    },
    get markers() {
      return markers;
    },
    nearIterationOf: (event) => nearIterationOf(event, iterationAt),
    get palette() {
      return palette;
    },
  };
}
