/** Rows of a long list that are drawn: the visible ones, and some on either side. */

const MARGIN = 10;

/**
 * @param top scroll position in pixels
 * @param row height of each row in pixels
 * @returns from ≤ row < to
 */
export function rowsInSight({
  top,
  height,
  row,
  count,
}: {
  readonly top: number;
  readonly height: number;
  readonly row: number;
  readonly count: number;
}): { readonly from: number; readonly to: number } {
  const fit = Math.ceil(height / row);
  // A list that has become shorter may still be scrolled beyond its end.
  const first = Math.max(0, Math.min(Math.floor(top / row), count - fit));
  return {
    from: Math.max(0, first - MARGIN),
    to: Math.min(count, first + fit + MARGIN),
  };
}
