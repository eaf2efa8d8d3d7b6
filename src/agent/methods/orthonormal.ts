/**
 * Gram–Schmidt for a few long columns, one after the other in memory: modified, with sums
 * in f64 and every projection done twice, so that columns are orthogonal to f32 precision
 * even if they were nearly parallel. A column in the span of the others (within 1e-6 of
 * its norm) becomes 0. Cost: 4·r²·rows operations; the same bits wherever it runs.
 */
export function orthonormalize(columns: Float32Array, rows: number): void {
  for (let start = 0; start < columns.length; start += rows) {
    const column = columns.subarray(start, start + rows);
    const before = norm(column);
    normalize(column);
    for (let pass = 0; pass < 2; pass++) {
      for (let other = 0; other < start; other += rows) {
        project(column, columns.subarray(other, other + rows));
      }
    }
    if (before > 0 && norm(column) < DEPENDENT) column.fill(0);
    else normalize(column);
  }
}

const DEPENDENT = 1e-6;

/** x ← x / ‖x‖ unless ‖x‖ is 0. Returns the original ‖x‖. */
export function normalize(x: Float32Array): number {
  const length = norm(x);
  if (length === 0) return 0;
  for (let i = 0; i < x.length; i++) x[i] = x[i]! / length;
  return length;
}

/** x ← x − (x·unit)·unit */
function project(x: Float32Array, unit: Float32Array): void {
  let dot = 0;
  for (let i = 0; i < x.length; i++) dot += x[i]! * unit[i]!;
  for (let i = 0; i < x.length; i++) x[i] = x[i]! - dot * unit[i]!;
}

function norm(x: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! * x[i]!;
  return Math.sqrt(sum);
}
