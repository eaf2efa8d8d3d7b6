/** The memory of models of other sizes than the spec's, and what a plan says of their computation. */
import { describe, expect, test } from 'vitest';
import { specMemory } from '../../../src/agent/engine.ts';
import { forecastWorlds } from '../../../src/agent/forecast/forecast-spec.ts';
import { inspectSpec } from '../../../src/agent/training/inspect/inspect-spec.ts';
import { planStep } from '../../../src/main/plan/plan-step.ts';
import { computingSpec } from '../../../src/main/plan/compute-time.ts';
import { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';
import type { ForecastQuestion } from '../../../src/shared/forecast/forecast-question.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const spec = parseExperimentSpec({
  name: 'sized',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
  exchange: { method: 'topk' },
  world: { ranks: 2 },
});
/** Parameters of the model. */
const OWN = 199_210;

describe('a model of another size', () => {
  const sizes = (elements?: number): Record<string, number> => {
    const [{ parts }] = specMemory(spec, [2], undefined, undefined, elements) as [
      ReturnType<typeof specMemory>[number],
    ];
    return Object.fromEntries(parts.map(({ bytes, name }) => [name, bytes]));
  };

  test('has its own memory, in proportion', () => {
    const [own, large] = [sizes(), sizes(100 * OWN)];
    expect(own.gradient).toBe(4 * OWN);
    for (const name of ['gradient', 'residual', 'weights', 'payloads', 'copies']) {
      expect(large[name]! / own[name]!).toBeCloseTo(100, 0);
    }
    for (const name of ['samples', 'process']) expect(large[name]).toBe(own[name]);
    expect(sizes(OWN)).toEqual(own);
    expect(() => sizes(0.5)).toThrow(/^specMemory: elements: /);
  });

  test.each([
    [{}, 'measured here'],
    [{ parameters: 10 * OWN }, 'measured here, for the model’s own size'],
    [{ parameters: 10 * OWN, compute: 5 }, 'given'],
  ])('computes as it says: %j', async (request, computeOrigin) => {
    const plan = await planStep(spec, request, {
      computeTime: () => Promise.resolve({ seconds: 1e-3, origin: 'measured here' }),
      measured: () =>
        Promise.resolve({
          profiles: new Map(),
          links: undefined,
          file: 'none',
          isGiven: false,
        }),
      forecaster: {
        ask: async (question: ForecastQuestion) => {
          const known = await inspectSpec(spec);
          const times = { compress: 1e-3, decompress: 1e-3, gathered: 0 };
          const rehearse = () => Promise.resolve(times);
          const { candidates, elements } = await forecastWorlds(spec, {
            ...question,
            known,
            rehearse,
          });
          return { worlds: candidates, elements, memory: candidates.map(() => []) };
        },
      },
    });
    expect(plan.computeOrigin).toBe(computeOrigin);
  });
});

test('the run that measures the computation has none of the links between machines', () => {
  const spread = parseExperimentSpec({
    ...spec,
    world: { ranks: 2, nodes: ['a', 'b'] },
    network: {
      bandwidth: '1 Gbit/s',
      pairs: [{ between: ['a', 'b'], bandwidth: '100 Mbit/s' }],
    },
  });
  const short = computingSpec(spread);
  expect(() => validateLaunch(short)).not.toThrow();
  expect(short.network).toBeUndefined();
  expect(short.workload).toEqual(spread.workload);
});
