/** The rank that has something else than the others. */

/** The first rank whose mark is not the most frequent one, and the first whose mark that is. */
export function oddOne(marks: readonly number[]): {
  readonly odd: number;
  readonly usual: number;
} {
  const counts = new Map<number, number>();
  for (const mark of marks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  // Of two that are equally frequent, that of the lower rank counts: `toSorted` keeps their order.
  const [[most]] = [...counts].toSorted(([, a], [, b]) => b - a) as [[number, number]];
  return { odd: marks.findIndex((mark) => mark !== most), usual: marks.indexOf(most) };
}
