/** One curve of a line chart, and how it is drawn. */
export interface LineSeries {
  readonly label: string;
  /** The custom property of the style sheet that has its colour. */
  readonly property: string;
  /** `faint` raw values, `line` a curve, `dots` single observations, `band` min–max. */
  readonly look: 'faint' | 'line' | 'dots' | 'dashed' | 'band';
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** Dashes in pixels; default: those of the look. */
  readonly dash?: readonly number[];
  /** The upper edge of a band, at the same places as `points`. */
  readonly upper?: readonly { readonly x: number; readonly y: number }[];
}
