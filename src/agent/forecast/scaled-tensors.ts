/** Tensors of a model that is larger or smaller than the spec's. */
import type { FlatTensor } from '../plan/buckets.ts';
import { tensorLength } from '../training/models/model.ts';

/**
 * The tensors, their first dimensions scaled so that all have about `elements` together.
 * @param elements default: the tensors as they are
 */
export function scaledTensors<T extends FlatTensor>(
  tensors: readonly T[],
  elements: number | undefined,
): readonly T[] {
  if (elements === undefined) return tensors;
  const all = tensors.reduce((sum, { length }) => sum + length, 0);
  let start = 0;
  return tensors.map((tensor) => {
    const [first = 1, ...others] = tensor.shape;
    const shape = [Math.max(1, Math.round((first * elements) / all)), ...others];
    const scaled = { ...tensor, shape, start, length: tensorLength({ shape }) };
    start += scaled.length;
    return scaled;
  });
}
