/** A chart as data, from which a picture is drawn: the same numbers, with title, unit and legend. */
import type { Pattern } from './phase-patterns.ts';

export interface PicturePoint {
  readonly x: number;
  readonly y: number;
}

export interface PictureAxis {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly logarithmic?: boolean;
  /** Text at a tick. */
  readonly format: (value: number) => string;
  /** Places of ticks; default: round values, or powers of ten. */
  readonly ticks?: readonly number[] | undefined;
}

export interface PictureSeries {
  readonly label: string;
  /** `#rrggbb`. */
  readonly colour: string;
  /**
   * `faint` raw values, `line` a curve, `dots` single values, `band` from `points` to `upper`,
   * `spread` an upright line from each point to its upper one; `bars`, and `hatched` ones over
   * others.
   */
  readonly look:
    'faint' | 'line' | 'dashed' | 'dots' | 'band' | 'spread' | 'bars' | 'hatched';
  /** The pattern of bars over their colour; default: plain. */
  readonly pattern?: Pattern;
  readonly points: readonly PicturePoint[];
  /** The upper ends of a band or of spreads, at the same places as `points`. */
  readonly upper?: readonly PicturePoint[];
  /** The bottom of each bar; default: 0. */
  readonly base?: readonly number[];
  /** The width of each bar, on the horizontal axis; default: 1. */
  readonly widths?: readonly number[];
  /** Dashes in pixels; default: those of the look. */
  readonly dash?: readonly number[];
  /** Left out of the legend. */
  readonly isUnnamed?: boolean;
}

/** A moment: a vertical line with a text, or a sign at the axis. */
export interface PictureMarker {
  readonly x: number;
  readonly label: string;
  /** Default: a line with the text. A cross and a diamond have a line as well. */
  readonly sign?: 'cross' | 'diamond' | 'disc' | 'square' | 'triangle';
  /** `#rrggbb`, of a sign. */
  readonly colour?: string;
}

/** A value beyond the vertical axis, and its text. */
export interface CutValue extends PicturePoint {
  readonly label: string;
}

export interface Picture {
  readonly title: string;
  readonly unit: string;
  /** The chart's content in a sentence, also for those who cannot see it. */
  readonly caption: string;
  readonly x: PictureAxis;
  readonly y: PictureAxis;
  readonly series: readonly PictureSeries[];
  readonly markers?: readonly PictureMarker[];
  /** Values beyond the vertical axis. */
  readonly cut?: readonly CutValue[];
}
