/** Parts of all pictures of a run's charts: the axis and the markers that are shown. */
import { MARKER_COLOURS } from '../../export/picture/colours.ts';
import type {
  Picture,
  PictureAxis,
  PictureMarker,
} from '../../export/picture/picture.ts';
import type { AxisKind } from './axis-map.ts';
import { ticksOf, tickText, zoneText } from './axis-ticks.ts';
import { MARKER_STYLES } from './markers.ts';
import { placedMarkers, rangeOn, type PlacedRun } from './placed-run.ts';

/** Title, unit and caption. */
export type PictureWords = Pick<Picture, 'title' | 'unit' | 'caption'>;

const AXIS_LABELS: Readonly<Record<AxisKind, string>> = {
  iteration: 'iteration',
  time: 'time since start',
  clock: 'clock time',
  bytes: 'bytes sent by a rank',
};

/** The horizontal axis, as it is shown. */
export function runPictureAxis(run: PlacedRun): PictureAxis {
  const { kind } = run.map;
  const range = rangeOn(run);
  const zone = kind === 'clock' ? `, ${zoneText(range.min)}` : '';
  return {
    label: AXIS_LABELS[kind] + zone,
    min: range.min,
    max: range.max,
    ticks: ticksOf(kind, range),
    format: (value) => tickText(kind, value, range),
  };
}

export const pictureMarkers = (run: PlacedRun): readonly PictureMarker[] =>
  placedMarkers(run).map(({ kind, label, x }) => {
    const { sign } = MARKER_STYLES[kind];
    return sign === 'fence'
      ? { x, label }
      : { x, label, sign, colour: MARKER_COLOURS[kind] };
  });
