/** `0–3, 5` from ascending ranks. */
export function rankSpans(ranks: readonly number[]): string {
  const found: [number, number][] = [];
  for (const rank of ranks) {
    const last = found.at(-1);
    if (last?.[1] === rank - 1) last[1] = rank;
    else found.push([rank, rank]);
  }
  return found
    .map(([first, last]) => (first === last ? String(first) : `${first}–${last}`))
    .join(', ');
}
