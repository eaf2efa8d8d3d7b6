/**
 * A row-major matrix and its transpose in WGSL, in squares of 32 rows and columns that pass
 * through shared memory: both are read and written along their rows. Either may lie in
 * several windows; an invocation passes over what is outside of this dispatch's.
 */
import { exactSumAndProduct } from './exact.ts';
import type { KernelSource } from './kernel-source.ts';

/** Rows and columns of a square. */
export const SQUARE = 32;

/**
 * out ← Mᵀ, or out + Mᵀ (`keep` 1), where both are in their windows: `length` elements of M
 * from `first` on, and `outLength` of its transpose from `outFirst` on. Workgroups take
 * squares in turn.
 */
export const transpose: KernelSource<
  | 'rows'
  | 'columns'
  | 'first'
  | 'length'
  | 'outFirst'
  | 'outLength'
  | 'keep'
  | 'squares'
  | 'groups',
  'matrix' | 'out'
> = {
  name: 'transpose',
  parameters: [
    'rows',
    'columns',
    'first',
    'length',
    'outFirst',
    'outLength',
    'keep',
    'squares',
    'groups',
  ],
  bindings: { matrix: 'read', out: 'write' },
  code: () =>
    exactSumAndProduct +
    /* wgsl */ `
var<workgroup> square: array<u32, ${SQUARE * (SQUARE + 1)}>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let across = (parameters.columns + ${SQUARE - 1}u) / ${SQUARE}u;
  let x = lane % ${SQUARE}u;
  for (var s = group.x; s < parameters.squares; s += parameters.groups) {
    let row = s / across * ${SQUARE}u;
    let column = s % across * ${SQUARE}u;
    for (var y = lane / ${SQUARE}u; y < ${SQUARE}u; y += 8u) {
      // Elements before the window wrap to places far behind it.
      let at = (row + y) * parameters.columns + column + x - parameters.first;
      if row + y < parameters.rows && column + x < parameters.columns && at < parameters.length {
        square[y * ${SQUARE + 1}u + x] = matrix[parameters.matrixAt + at];
      }
    }
    workgroupBarrier();
    for (var y = lane / ${SQUARE}u; y < ${SQUARE}u; y += 8u) {
      if column + y < parameters.columns && row + x < parameters.rows {
        let own = (row + x) * parameters.columns + column + y - parameters.first;
        let to = (column + y) * parameters.rows + row + x - parameters.outFirst;
        if own < parameters.length && to < parameters.outLength {
          let value = square[x * ${SQUARE + 1}u + y];
          let at = parameters.outAt + to;
          if parameters.keep == 1u {
            out[at] = sum(out[at], value);
          } else {
            out[at] = value;
          }
        }
      }
    }
    workgroupBarrier();
  }
}
`,
};
