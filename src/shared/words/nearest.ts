/**
 * "Did you mean": the candidate closest to a misspelt word by edit distance
 * (insertions, deletions, substitutions and swaps of neighbours), or undefined if
 * none is near enough to be a plausible slip.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
): string | undefined {
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  const tolerance = Math.max(2, Math.floor(word.length / 2));
  return bestDistance <= tolerance ? best : undefined;
}

/** Optimal string alignment distance, O(|a|·|b|). */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      }
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
