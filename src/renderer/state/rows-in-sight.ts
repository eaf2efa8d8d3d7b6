/** Which rows of a long list are drawn: those in sight, and some on either side. */

const MARGIN = 10;

/**
 * @param top pixels that are scrolled away
 * @param row height of one, in pixels, the same for all
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
