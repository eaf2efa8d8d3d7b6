/** Matrices on the GPU in the order of their columns. */
import { SQUARE, transpose } from '../wgsl/transpose.ts';
import type { GpuMatrix } from './device-low-rank.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, type GpuVector } from './gpu-vector.ts';

const MOST_GROUPS = 32_768;

/** Enqueues out ← Mᵀ, or out + Mᵀ; `out` is in separate memory. */
export function enqueueTranspose(
  { commands }: GpuDevice,
  { elements, rows, columns }: GpuMatrix,
  out: GpuVector,
  add: boolean,
): void {
  const squares = Math.ceil(rows / SQUARE) * Math.ceil(columns / SQUARE);
  const groups = Math.min(squares, MOST_GROUPS);
  for (const from of windowsOf([elements])) {
    for (const to of windowsOf([out])) {
      commands.dispatch(
        transpose,
        groups,
        { matrix: from.parts[0], out: to.parts[0] },
        {
          rows,
          columns,
          squares,
          groups,
          keep: Number(add),
          first: from.first,
          length: from.length,
          outFirst: to.first,
          outLength: to.length,
        },
      );
    }
  }
}
