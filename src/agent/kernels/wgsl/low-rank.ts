/**
 * Products of a row-major matrix with the few columns of a factor in WGSL, with the sums
 * in the order in which the SIMD kernels take them, so with the same bits.
 * `kernels/low-rank.ts` defines a factor's columns and their layout.
 */
import type { KernelSource } from './kernel-source.ts';
import { eachElement } from './elementwise.ts';
import { exactSumAndProduct } from './exact.ts';

/** Rows that a workgroup takes at a time, eight invocations each. */
export const ROWS_TOGETHER = 32;

/**
 * left ← M · right, for `count` rows of M that begin with row `first`. Workgroups take rows
 * in turn. Of a row's products, every eighth belongs to one of eight sums.
 */
export const timesFactor: KernelSource<
  'count' | 'first' | 'rows' | 'columns' | 'rank' | 'groups',
  'matrix' | 'right' | 'left'
> = {
  name: 'matrix times factor',
  parameters: ['count', 'first', 'rows', 'columns', 'rank', 'groups'],
  bindings: { matrix: 'read', right: 'read', left: 'write' },
  code: () =>
    exactSumAndProduct +
    /* wgsl */ `
var<workgroup> parts: array<u32, ${8 * ROWS_TOGETHER}>;

fn term(row: u32, column: u32, j: u32) -> u32 {
  let columns = parameters.columns;
  return product(
    matrix[parameters.matrixAt + row * columns + j],
    right[parameters.rightAt + column * columns + j]);
}

@compute @workgroup_size(${8 * ROWS_TOGETHER})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let even = parameters.columns & ~7u;
  let blocks = (parameters.count + ${ROWS_TOGETHER - 1}u) / ${ROWS_TOGETHER}u;
  for (var block = group.x; block < blocks; block += parameters.groups) {
    let row = block * ${ROWS_TOGETHER}u + lane / 8u;
    let inside = row < parameters.count;
    for (var column = 0u; column < parameters.rank; column++) {
      var part = 0u;
      if inside {
        for (var j = lane % 8u; j < even; j += 8u) {
          part = sum(part, term(row, column, j));
        }
      }
      parts[lane] = part;
      workgroupBarrier();
      if inside && lane % 8u == 0u {
        let a = sum(parts[lane], parts[lane + 4u]);
        let b = sum(parts[lane + 1u], parts[lane + 5u]);
        let c = sum(parts[lane + 2u], parts[lane + 6u]);
        let d = sum(parts[lane + 3u], parts[lane + 7u]);
        var all = sum(sum(a, b), sum(c, d));
        for (var j = even; j < parameters.columns; j++) {
          all = sum(all, term(row, column, j));
        }
        left[parameters.leftAt + column * parameters.rows + parameters.first + row] = all;
      }
      workgroupBarrier();
    }
  }
}
`,
};

/**
 * right ← right + Mᵀ · left, of a window of M that begins with element `first` and ends
 * before `end`: an invocation for each of the `length` elements of right, which adds up rows
 * in order. Workgroups count from `firstGroup`.
 */
export const addTransposedTimesFactor: KernelSource<
  'length' | 'first' | 'end' | 'rows' | 'columns' | 'firstGroup',
  'matrix' | 'left' | 'right'
> = {
  name: 'transposed matrix times factor',
  parameters: ['length', 'first', 'end', 'rows', 'columns', 'firstGroup'],
  bindings: { matrix: 'read', left: 'read', right: 'write' },
  code: () =>
    exactSumAndProduct +
    /* wgsl */ `
@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (parameters.firstGroup + group.x) * 64u + lane;
  if i >= parameters.length { return; }
  let columns = parameters.columns;
  let column = i / columns;
  let j = i % columns;
  let at = parameters.rightAt + i;
  var all = right[at];
  // The first row whose element of this column is in the window.
  var row = (parameters.first + columns - 1u - j) / columns;
  for (; row * columns + j < parameters.end; row++) {
    let element = matrix[parameters.matrixAt + row * columns + j - parameters.first];
    let factor = left[parameters.leftAt + column * parameters.rows + row];
    all = sum(all, product(element, factor));
  }
  right[at] = all;
}
`,
};

/** M ← M + factor · left · rightᵀ, for a window of M that begins with element `first`. */
export const addProduct: KernelSource<
  'length' | 'first' | 'rows' | 'columns' | 'rank' | 'factor',
  'matrix' | 'left' | 'right'
> = {
  name: 'add product of factors',
  parameters: ['length', 'first', 'rows', 'columns', 'rank', 'factor'],
  bindings: { matrix: 'write', left: 'read', right: 'read' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let row = (parameters.first + i) / parameters.columns;
      let j = (parameters.first + i) % parameters.columns;
      var value = matrix[parameters.matrixAt + i];
      for (var column = 0u; column < parameters.rank; column++) {
        let scaled = product(
          left[parameters.leftAt + column * parameters.rows + row], parameters.factor);
        let other = right[parameters.rightAt + column * parameters.columns + j];
        value = sum(value, product(scaled, other));
      }
      matrix[parameters.matrixAt + i] = value;`),
};
