import { describe, expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { base, errorOf, planAsChange } from './topk-plan.ts';

describe('where a warm-up or a ramp begins', () => {
  const launched = resolvePlan(
    { method: 'topk', warmupIterations: 9, rampEpochs: 2 },
    undefined,
    {
      iterationsPerPass: 10,
    },
  );
  const startsAfter = (
    change: Record<string, unknown>,
    from = launched,
    epoch = 3,
  ): unknown[] => {
    const { parameters } = resolvePlan(change, from, { epoch });
    return [parameters.warmupStart, parameters.rampStart];
  };

  it('is the first iteration at launch, and nowhere if there is none', () => {
    expect(launched.parameters).toMatchObject({ warmupStart: 0, rampStart: 0 });
    expect(base.parameters).not.toHaveProperty('rampStart');
    expect(base.parameters).not.toHaveProperty('warmupStart');
  });

  it.each<[string, Record<string, unknown>, unknown[]]>([
    ['is left by a switch that names neither', { ratio: 0.2 }, [0, 0]],
    ['is the fence of what it names', { rampIterations: 7 }, [0, { fence: 3 }]],
    // As the same ramp down to another ratio.
    ['also if the length is the same', { rampIterations: 20 }, [0, { fence: 3 }]],
    ['or of its upper end alone', { rampFrom: 0.1 }, [0, { fence: 3 }]],
    ['for each by itself', { warmupIterations: 3 }, [{ fence: 3 }, 0]],
    ['is gone with the length', { rampIterations: 0 }, [0, undefined]],
    [
      'is the fence with another method',
      { method: 'randomk', rampIterations: 7 },
      [undefined, { fence: 3 }],
    ],
    ['may be given', { rampIterations: 7, rampStart: 40 }, [0, 40]],
  ])('%s', (_, change, expected) => {
    expect(startsAfter(change)).toEqual(expected);
  });

  it('is left by a plan that is written out again, unless its length is another', () => {
    const written = planAsChange(launched);
    expect(startsAfter(written)).toEqual([0, 0]);
    expect(startsAfter({ ...written, rampIterations: 8 })).toEqual([0, { fence: 3 }]);
    const switched = {
      ...launched,
      parameters: { ...launched.parameters, rampStart: 50 },
    };
    expect(startsAfter(planAsChange(switched))).toEqual([0, 50]);
    expect(startsAfter(planAsChange(launched), switched)).toEqual([0, 0]);
  });

  it('is the first iteration in plans of records that do not say it', () => {
    const { rampStart, warmupStart, ...parameters } = launched.parameters;
    expect([rampStart, warmupStart]).toEqual([0, 0]);
    expect(startsAfter(planAsChange({ ...launched, parameters }))).toEqual([0, 0]);
  });

  it('waits for the fence of an earlier switch as well', () => {
    const waiting = resolvePlan({ rampIterations: 7 }, launched, { epoch: 2 });
    expect(startsAfter({ collective: 'sparse-ring' }, waiting)).toEqual([
      0,
      { fence: 2 },
    ]);
  });

  it('is that of the plan for a layer that does not say otherwise', () => {
    const layers = [
      { match: 'a' },
      { match: 'b', rampIterations: 4 },
      { match: 'c', method: 'dgc', rampIterations: 4 },
      { match: 'd', method: 'dgc' },
    ];
    const starts = ({ layers: all }: ReturnType<typeof resolvePlan>): unknown[] =>
      all!.map(({ parameters }) => parameters.rampStart);
    const plan = resolvePlan({ layers }, launched, { epoch: 3 });
    const fence = { fence: 3 };
    expect(starts(plan)).toEqual([0, fence, fence, undefined]);
    const passed = {
      ...plan,
      layers: plan.layers!.map((layer) => ({
        ...layer,
        parameters: {
          ...layer.parameters,
          ...(['b', 'c'].includes(layer.match) && { rampStart: 60 }),
        },
      })),
    };
    const again = resolvePlan(planAsChange(passed), passed, { epoch: 4 });
    expect(starts(again)).toEqual([0, 60, 60, undefined]);
  });

  it.each([-1, 1.5, 'soon', { fence: 1 }])('is no %j', (rampStart) => {
    expect(errorOf({ rampIterations: 7, rampStart })).toMatchObject({
      code: 'METHOD_PARAMETER_INVALID',
      kind: 'input',
    });
  });
});

it('counts epochs by the run', () => {
  const change = { warmupEpochs: 2, layers: [{ match: 'w', rampEpochs: 1 }] };
  const plan = resolvePlan(change, base, { iterationsPerPass: 12.5 });
  expect(plan.parameters).toMatchObject({ warmupIterations: 25, warmupEpochs: 0 });
  expect(plan.layers![0]!.parameters).toMatchObject({
    warmupIterations: 25,
    rampIterations: 13,
  });
});
