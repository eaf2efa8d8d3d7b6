/** Marks that are drawn: those for which there is room on the axis. */

/** The highest values of those that are cut, no two of them closer than `room` pixels; ascending. */
export function highestApart<T extends { readonly y: number }>(
  cut: readonly T[],
  pixel: (of: T) => number,
  room: number,
): readonly T[] {
  const kept: T[] = [];
  for (const one of cut.toSorted((a, b) => b.y - a.y)) {
    const at = pixel(one);
    if (kept.every((other) => Math.abs(pixel(other) - at) >= room)) kept.push(one);
  }
  return kept.toSorted((a, b) => pixel(a) - pixel(b));
}

/** Pixels between signs of what happens again and again. */
const OFTEN = 24;

/** A sign at the axis. */
interface Sign {
  /** The pixel. */
  readonly at: number;
  readonly sign: string;
}

/** Checkpoints and evaluations come again and again: they take the room that others leave. */
const turnOf = ({ sign }: Sign): number => ['square', 'disc'].indexOf(sign);

/**
 * The signs for which there is room, the more important ones last.
 * @param signs ascending
 * @param size of one, in pixels
 */
export function signsApart<T extends Sign>(
  signs: readonly T[],
  size: number,
): readonly T[] {
  const kept: T[] = [];
  for (const turn of [-1, 0, 1]) {
    const before = [...kept];
    const last: Record<string, number> = {};
    for (const one of signs) {
      const { at, sign } = one;
      if (turnOf(one) !== turn) continue;
      if (at - (last[sign] ?? -Infinity) < (turn < 0 ? size : OFTEN)) continue;
      if (before.some((other) => Math.abs(other.at - at) <= size)) continue;
      last[sign] = at;
      kept.push(one);
    }
  }
  return kept.toReversed();
}
