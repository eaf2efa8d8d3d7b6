/**
 * The mark of a series. Shapes differ as well as colours, for readers who cannot tell
 * the colours apart.
 */

/** @param series its index @param x @param y its middle, in the drawing's units */
export function marker(series: number, x: number, y: number): string {
  const d = (points: readonly (readonly [number, number])[]): string =>
    `<path class="mark s${series}" d="${points
      .map(([dx, dy], index) => `${index === 0 ? 'M' : 'L'}${x + dx} ${y + dy}`)
      .join('')}Z"/>`;
  const shapes = [
    () => `<circle class="mark s${series}" cx="${x}" cy="${y}" r="4"/>`,
    () =>
      d([
        [-3.6, -3.6],
        [3.6, -3.6],
        [3.6, 3.6],
        [-3.6, 3.6],
      ]),
    () =>
      d([
        [0, -4.8],
        [4.6, 3.4],
        [-4.6, 3.4],
      ]),
    () =>
      d([
        [0, -5],
        [5, 0],
        [0, 5],
        [-5, 0],
      ]),
    () =>
      d([
        [0, 4.8],
        [4.6, -3.4],
        [-4.6, -3.4],
      ]),
    () => `<circle class="mark hollow s${series}" cx="${x}" cy="${y}" r="3.6"/>`,
  ];
  return shapes[series % shapes.length]!();
}
