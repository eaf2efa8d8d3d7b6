import { expect, test } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { PlannedSwitches } from '../../../src/agent/supervisor/runs/planned-switches.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const planned = (settings: Readonly<Record<string, unknown>>): PlannedSwitches =>
  new PlannedSwitches({
    spec: parseExperimentSpec({
      workload: { model: 'fnn3', dataset: 'digits' },
      iterations: 40,
      ...settings,
    }),
    plan: resolvePlan({ method: 'none' }),
    switches: [],
    setting: {},
    ranks: [0],
  });

const LOCAL = { parallelism: { kind: 'local-steps', every: 16 } };

/** Asked for after this number of iterations, for as soon as possible. */
function askedAfter(switches: PlannedSwitches, iterations: number): () => unknown {
  if (iterations > 0) switches.reached(iterations - 1);
  return () => switches.plan({ change: { method: 'topk' } });
}

test('a switch is taken while an iteration is left for it', () => {
  expect(askedAfter(planned({}), 39)).not.toThrow();
  expect(askedAfter(planned({}), 40)).toThrow('iteration 40');
});

test('with local steps it is taken while an exchange with steps behind it is left', () => {
  expect(askedAfter(planned(LOCAL), 32)).not.toThrow();
  expect(askedAfter(planned(LOCAL), 33)).toThrow(
    'iteration 33, but the run has 40 and exchanges every 16',
  );
});

test('what begins at a fence of local steps begins with an exchange', () => {
  const switches = planned(LOCAL);
  const change = { method: 'topk', warmupIterations: 1 };
  const { epoch } = switches.plan({ change, at: 16 });
  switches.passed(epoch, 16);
  const { plan } = switches.plan({ change: { ratio: 0.02 }, at: 32 });
  expect(plan.parameters).toMatchObject({ warmupStart: 1, ratio: 0.02 });
});
