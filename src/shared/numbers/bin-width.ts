/**
 * Widths of bins. They are powers of two, so that two neighbours merge into one bin of
 * the next width and edges stay where they were while a run grows.
 */

/** The smallest power of two w with ⌈span ÷ w⌉ + 1 ≤ bins: aligned bins always fit. */
export function binWidth(span: number, bins: number): number {
  let width = 1;
  while (span > width && Math.ceil(span / width) + 1 > bins) width *= 2;
  return width;
}
