/** A run's range and markers as places on the axis that is shown. It needs no page. */
import type { AxisMap } from './axis-map.ts';
import type { AxisRange } from './axis-range.ts';
import { MARKER_STYLES, type Marker, type MarkerKind } from './markers.ts';

/** The part of a charted run that has places. */
export interface PlacedRun {
  /** The range that is shown, in iterations. */
  readonly axis: AxisRange;
  readonly map: AxisMap;
  readonly markers: readonly Marker[];
}

export interface PlacedMarker {
  readonly kind: MarkerKind;
  /** The place on the axis; a fence is before its iteration's bar. */
  readonly x: number;
  readonly label: string;
}

/** The range that is shown. */
export function rangeOn({ axis, map }: PlacedRun): AxisRange {
  const [min, max] = [map.toX(axis.min), map.toX(axis.max)];
  // Nothing may have been sent in it.
  return { min, max: max > min ? max : min + 1 };
}

/** The markers; a fence is before its iteration. */
export const placedMarkers = ({ map, markers }: PlacedRun): readonly PlacedMarker[] =>
  markers.map(({ iteration, kind, label }) => ({
    kind,
    label,
    x: map.toX(MARKER_STYLES[kind].sign === 'fence' ? iteration - 0.5 : iteration),
  }));
