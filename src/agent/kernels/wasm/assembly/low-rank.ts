/**
 * Products of a row-major matrix with the r columns of a factor. The inner loop runs
 * along a row for every product, so that the matrix is read once and in order.
 */

function lanesSum(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) +
    f32x4.extract_lane(v, 1) +
    (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

function dot(x: usize, y: usize, n: u32): f32 {
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  const runs = n >>> 3;
  for (let i: u32 = 0; i < runs; i++) {
    a = f32x4.add(a, f32x4.mul(v128.load(x), v128.load(y)));
    b = f32x4.add(b, f32x4.mul(v128.load(x, 16), v128.load(y, 16)));
    x += 32;
    y += 32;
  }
  let sum = lanesSum(f32x4.add(a, b));
  for (let i: u32 = n & ~7; i < n; i++) {
    sum += load<f32>(x) * load<f32>(y);
    x += 4;
    y += 4;
  }
  return sum;
}

/** out ← out + factor · x */
function addScaled(out: usize, x: usize, n: u32, factor: f32): void {
  const factors = f32x4.splat(factor);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    v128.store(out, f32x4.add(v128.load(out), f32x4.mul(v128.load(x), factors)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    store<f32>(out, load<f32>(out) + load<f32>(x) * factor);
    out += 4;
    x += 4;
  }
}

/** left ← M · right */
export function timesFactor(
  matrix: usize,
  rows: u32,
  columns: u32,
  right: usize,
  left: usize,
  rank: u32,
): void {
  const rowBytes = (<usize>columns) << 2;
  const leftBytes = (<usize>rows) << 2;
  for (let i: u32 = 0; i < rows; i++) {
    let factor = right;
    let at = left + ((<usize>i) << 2);
    for (let c: u32 = 0; c < rank; c++) {
      store<f32>(at, dot(matrix, factor, columns));
      factor += rowBytes;
      at += leftBytes;
    }
    matrix += rowBytes;
  }
}

/** right ← Mᵀ · left */
export function transposedTimesFactor(
  matrix: usize,
  rows: u32,
  columns: u32,
  left: usize,
  right: usize,
  rank: u32,
): void {
  const rowBytes = (<usize>columns) << 2;
  const leftBytes = (<usize>rows) << 2;
  memory.fill(right, 0, rowBytes * <usize>rank);
  for (let i: u32 = 0; i < rows; i++) {
    let factor = right;
    let at = left + ((<usize>i) << 2);
    for (let c: u32 = 0; c < rank; c++) {
      addScaled(factor, matrix, columns, load<f32>(at));
      factor += rowBytes;
      at += leftBytes;
    }
    matrix += rowBytes;
  }
}

/** M ← M + factor · left · rightᵀ */
export function addProduct(
  matrix: usize,
  rows: u32,
  columns: u32,
  left: usize,
  right: usize,
  rank: u32,
  factor: f32,
): void {
  const rowBytes = (<usize>columns) << 2;
  const leftBytes = (<usize>rows) << 2;
  for (let i: u32 = 0; i < rows; i++) {
    let vector = right;
    let at = left + ((<usize>i) << 2);
    for (let c: u32 = 0; c < rank; c++) {
      addScaled(matrix, vector, columns, load<f32>(at) * factor);
      vector += rowBytes;
      at += leftBytes;
    }
    matrix += rowBytes;
  }
}
