/** What a part of a sparse data set holds, read back from batches. */
import {
  allocateBatch,
  settledFields,
} from '../../../src/agent/training/batches/batch.ts';
import type {
  RankShard,
  Samples,
} from '../../../src/agent/training/datasets/dataset.ts';
import { logisticRegression } from '../../../src/agent/training/models/linear.ts';
import type { PlainSample } from './linear-reference.ts';

/** The pairs whose value is not 0, which fills rows up. */
export function samplesOf(
  { lengths }: Pick<RankShard, 'lengths'>,
  part: Samples,
  rows = Uint32Array.from({ length: part.count }, (_, i) => i),
): PlainSample[] {
  const { inputs } = logisticRegression.ofFeatures(1);
  const batch = allocateBatch(settledFields(inputs, lengths), rows.length);
  const { features, labels, values } = batch;
  // As a batch before would have left it.
  features!.fill(99);
  values!.fill(99);
  part.read(rows, batch);
  const width = features!.length / rows.length;
  return Array.from(rows, (_, row) => {
    const from = row * width;
    const used = [...values!.subarray(from, from + width)].flatMap((value, i) =>
      value === 0 ? [] : i,
    );
    return {
      label: labels![row]!,
      features: used.map((i) => features![from + i]!),
      values: used.map((i) => values![from + i]!),
    };
  });
}
