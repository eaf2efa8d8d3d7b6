/**
 * Spearman's rank correlation: the correlation of the positions that elements have when
 * each vector is sorted; 1 if the orders agree. Ties share the mean of their positions.
 * O(n log n).
 */

/**
 * Correlates the ranks of two vectors of equal length; undefined if one has no order: all elements
 * equal, or too few.
 */
export function rankCorrelation(a: Float32Array, b: Float32Array): number | undefined {
  const places = [placesOf(a), placesOf(b)] as const;
  const mean = (a.length - 1) / 2;
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = places[0][i]! - mean;
    const y = places[1][i]! - mean;
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  if (squaresA === 0 || squaresB === 0) return undefined;
  return product / Math.sqrt(squaresA * squaresB);
}

function placesOf(values: Float32Array): Float64Array {
  const order = Uint32Array.from(values.keys()).sort((i, j) => values[i]! - values[j]!);
  const places = new Float64Array(values.length);
  let first = 0;
  while (first < order.length) {
    let end = first + 1;
    while (end < order.length && values[order[end]!] === values[order[first]!]) end++;
    for (let i = first; i < end; i++) places[order[i]!] = (first + end - 1) / 2;
    first = end;
  }
  return places;
}
