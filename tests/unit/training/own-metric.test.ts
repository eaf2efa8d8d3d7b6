/** The metric and the initial values of the example in docs/models.md, against plain sums. */
import { expect, test } from 'vitest';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import { loadModelFile } from '../../../src/agent/training/models/model-file.ts';
import { openJaxRuntime } from '../../../src/agent/training/runtime/jax-runtime.ts';
import { documented } from '../../harness/documented.ts';

const code = documented('models.md', 'ts', '// balanced.ts');
const load = () => loadModelFile({ name: './balanced.ts', code });

test('a tally makes numbers of each sample, and the value is that of their sums', async () => {
  const { metric } = await load();
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const vector = (values: number[]) => jax.numpy.array(values);
  // Of class 3 one of two is right, of class 7 none of one, of class 0 its only one.
  const tally = metric.tally!.of(jax, [vector([1, 0, 0, 1]), vector([3, 3, 7, 0])]);
  expect(tally.shape).toEqual([4, 20]);
  const numbers = await tally.data();
  const sums = Array.from({ length: 20 }, (_, column) =>
    [0, 1, 2, 3].reduce((sum, row) => sum + numbers[20 * row + column]!, 0),
  );
  const share = metric.value({ loss: 1, predictions: 4, sums });
  expect(share).toBeCloseTo((1 / 2 + 0 + 1) / 3, 12);
  expect(metric.value({ loss: 0, predictions: 0, sums: sums.map(() => 0) })).toBe(
    undefined,
  );
});

test('initial values come from the seed and the place of their tensor alone', async () => {
  const [first, again] = [await load(), await load()];
  const weights = initialWeights(first, 7);
  expect(initialWeights(again, 7)).toEqual(weights);
  expect(initialWeights(first, 8)).not.toEqual(weights);
  const written = weights.subarray(0, 7840).filter((value) => value !== 0);
  expect(written.length / 7840).toBeCloseTo(0.1, 1);
  expect(written.every((value) => Math.abs(value) <= 0.35)).toBe(true);
  expect(weights.subarray(7840)).toEqual(new Float32Array(10));
});
