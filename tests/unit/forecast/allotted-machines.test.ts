/** Plans for machines that a scheduler allots: what only their GPUs may hold is predicted, as it would be launched. */
import { expect, test } from 'vitest';
import { forecastWorlds } from '../../../src/agent/forecast/forecast-spec.ts';
import { specMemory, stepMemory } from '../../../src/agent/forecast/spec-memory.ts';
import { mayHaveGpu } from '../../../src/agent/training/create-trainer.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import { planVerdict } from '../../../src/shared/forecast/plan-verdict.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const known = {};

/** Gradient and residual of two tensors, more than an arena can hold even in windows. */
const spec = parseExperimentSpec({
  workload: {
    model: 'synthetic-gradient',
    dataset: 'none',
    batchPerRank: 1,
    synthetic: { layers: [5e8, 5e8], computeMs: 1 },
  },
  iterations: 10,
  exchange: { method: 'topk', ratio: 0.01 },
  world: { ranks: 2 },
});

const forecast = (allotted?: boolean) =>
  forecastWorlds(spec, {
    worlds: [{ ranks: 2, network: LOOPBACK }],
    compute: 1e-3,
    known,
    allotted,
    rehearse: () => Promise.resolve({ compress: 0.1, decompress: 0.1, gathered: 0 }),
  });

test('a step is predicted, also where no uncompressed plan has room', async () => {
  const { candidates } = await forecast(true);
  expect(candidates[0]!.every(({ uncompressed }) => !uncompressed)).toBe(true);
  expect(planVerdict(candidates[0]!, 2)).toMatchObject({ method: 'topk', ranks: 2 });
  const [memory] = specMemory(spec, [2], known, undefined, undefined, true);
  expect(memory!.parts.map(({ name }) => name)).toContain('residual');
});

test('what a step of the model needs there is not told', async () => {
  const digits = parseExperimentSpec({
    workload: { model: 'fnn3', dataset: 'digits' },
  });
  expect(await stepMemory(digits, known, true)).toBeUndefined();
});

test.skipIf(mayHaveGpu())('here it is refused, where there is no GPU', async () => {
  await expect(forecast()).rejects.toMatchObject({ code: 'MEMORY_TOO_SMALL' });
  expect(() => specMemory(spec, [2], known)).toThrow(/windows have no room/);
});
