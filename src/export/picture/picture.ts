/** A chart as data, from which a picture is drawn: the same numbers, with title, unit and legend. */

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
}

export interface PictureSeries {
  readonly label: string;
  /** `#rrggbb`. */
  readonly colour: string;
  /** `faint` raw values, `line` a curve, `dots` single values, `band` from `points` to `upper`. */
  readonly look: 'faint' | 'line' | 'dashed' | 'dots' | 'band' | 'bars';
  readonly points: readonly PicturePoint[];
  /** The upper edge of a band, at the same places as `points`. */
  readonly upper?: readonly PicturePoint[];
  /** The bottom of each bar; default: 0. */
  readonly base?: readonly number[];
  /** The width of a bar, on the horizontal axis. */
  readonly width?: number;
  /** Dashes in pixels; default: those of the look. */
  readonly dash?: readonly number[];
  /** Left out of the legend. */
  readonly isUnnamed?: boolean;
}

export interface Picture {
  readonly title: string;
  readonly unit: string;
  /** The chart's content in a sentence, also for those who cannot see it. */
  readonly caption: string;
  readonly x: PictureAxis;
  readonly y: PictureAxis;
  readonly series: readonly PictureSeries[];
  /** Vertical lines with texts. */
  readonly markers?: readonly { readonly x: number; readonly label: string }[];
}
