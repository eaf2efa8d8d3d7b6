/**
 * A row-major matrix in the order of its columns. Sixteen columns are a cache line of a
 * row, so they are moved together, in squares of four rows and columns.
 */

const TOGETHER: u32 = 16;

/**
 * out ← Mᵀ, or out + Mᵀ, of which `out` is the n elements from `first` on: they may begin
 * and end in the middle of a column of M.
 */
export function transpose(
  out: usize,
  n: u32,
  matrix: usize,
  rows: u32,
  columns: u32,
  first: u32,
  add: bool,
): void {
  if (n == 0) return;
  const end = first + n;
  let column = first / rows;
  const row = first % rows;
  if (row != 0) {
    const stop = min(rows, row + n);
    moveColumn(out, matrix, columns, column++, row, stop, add);
    out += (<usize>(stop - row)) << 2;
  }
  const whole = end / rows;
  const columnBytes = (<usize>rows) << 2;
  while (column < whole) {
    const band = min(TOGETHER, whole - column);
    moveBand(out, matrix, rows, columns, column, band, add);
    out += columnBytes * <usize>band;
    column += band;
  }
  if (column == whole) moveColumn(out, matrix, columns, column, 0, end % rows, add);
}

/** `count` whole columns. */
function moveBand(
  out: usize,
  matrix: usize,
  rows: u32,
  columns: u32,
  column: u32,
  count: u32,
  add: bool,
): void {
  const columnBytes = (<usize>rows) << 2;
  const rowBytes = (<usize>columns) << 2;
  const squares = count & ~3;
  const even = rows & ~3;
  for (let row: u32 = 0; row < even; row += 4) {
    let from = matrix + rowBytes * <usize>row + ((<usize>column) << 2);
    let to = out + ((<usize>row) << 2);
    for (let j: u32 = 0; j < squares; j += 4) {
      moveSquare(to, columnBytes, from, rowBytes, add);
      from += 16;
      to += columnBytes << 2;
    }
  }
  for (let j: u32 = 0; j < count; j++) {
    const begin = j < squares ? even : 0;
    const to = out + columnBytes * <usize>j + ((<usize>begin) << 2);
    moveColumn(to, matrix, columns, column + j, begin, rows, add);
  }
}

function moveSquare(
  to: usize,
  columnBytes: usize,
  from: usize,
  rowBytes: usize,
  add: bool,
): void {
  const a = v128.load(from);
  const b = v128.load(from + rowBytes);
  const c = v128.load(from + 2 * rowBytes);
  const d = v128.load(from + 3 * rowBytes);
  const ab = i32x4.shuffle(a, b, 0, 4, 1, 5);
  const cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
  const abHigh = i32x4.shuffle(a, b, 2, 6, 3, 7);
  const cdHigh = i32x4.shuffle(c, d, 2, 6, 3, 7);
  put(to, i64x2.shuffle(ab, cd, 0, 2), add);
  put(to + columnBytes, i64x2.shuffle(ab, cd, 1, 3), add);
  put(to + 2 * columnBytes, i64x2.shuffle(abHigh, cdHigh, 0, 2), add);
  put(to + 3 * columnBytes, i64x2.shuffle(abHigh, cdHigh, 1, 3), add);
}

function put(to: usize, values: v128, add: bool): void {
  v128.store(to, add ? f32x4.add(v128.load(to), values) : values);
}

/** Rows from `row` up to `end` of a column. */
function moveColumn(
  out: usize,
  matrix: usize,
  columns: u32,
  column: u32,
  row: u32,
  end: u32,
  add: bool,
): void {
  const rowBytes = (<usize>columns) << 2;
  let from = matrix + rowBytes * <usize>row + ((<usize>column) << 2);
  for (; row < end; row++) {
    if (add) store<f32>(out, load<f32>(out) + load<f32>(from));
    else store<u32>(out, load<u32>(from));
    from += rowBytes;
    out += 4;
  }
}
