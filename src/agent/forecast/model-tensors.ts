/** The tensors of a spec's model, as they lie in the flat gradient. */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import { findWorkload } from '../training/find-workload.ts';
import type { ModelFacts } from '../training/model-facts.ts';
import { tensorLength } from '../training/models/model.ts';
import {
  isSynthetic,
  syntheticWorkload,
} from '../training/synthetic/synthetic-workload.ts';

/** @param own facts of a model from a file */
export function modelTensors(
  { workload, optimizer }: ExperimentSpec,
  own: ModelFacts | undefined,
): readonly FlatTensor[] {
  const tensors = isSynthetic(workload)
    ? syntheticWorkload(workload).layers.flatMap((layer) => layer.tensors)
    : findWorkload({ ...workload, optimizer: optimizer.kind }, own).model.tensors;
  return placedTensors(tensors);
}

/** Tensors one after the other. */
export function placedTensors(
  tensors: readonly Pick<FlatTensor, 'name' | 'shape'>[],
): readonly FlatTensor[] {
  let start = 0;
  return tensors.map(({ name, shape }) => {
    const length = tensorLength({ shape });
    const flat = { name, shape, start, length };
    start += length;
    return flat;
  });
}
