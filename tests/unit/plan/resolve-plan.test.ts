import { describe, expect, it } from 'vitest';
import { describeMethods, methods } from '../../../src/agent/methods/registry.ts';
import { collectivesOfMethod } from '../../../src/agent/plan/collectives-of-method.ts';
import type { PlanSetting } from '../../../src/agent/plan/plan-setting.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import {
  planAsChange as writtenOut,
  planAsExchange,
  type NamedPlan,
} from '../../../src/shared/plan/exchange-plan.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';

const base = resolvePlan({ method: 'topk', ratio: 0.05 });

function errorOf(
  change: Record<string, unknown>,
  setting: PlanSetting = {},
): GradwireError {
  try {
    resolvePlan(change, base, setting);
  } catch (error) {
    if (error instanceof GradwireError) return error;
    throw error;
  }
  throw new Error('expected a coded error');
}

const planAsChange = (plan: NamedPlan) => writtenOut(plan, describeMethods());

describe('a parameter that does nothing beside another', () => {
  it.each([
    ['topk', { k: 100, rampIterations: 50 }, 'rampIterations', 'k', 'Give k=0, or'],
    ['topk', { k: 100, rampEpochs: 2 }, 'rampEpochs', 'k', 'or rampEpochs=0.'],
    ['topk', { k: 100, ratio: 0.2 }, 'ratio', 'k', 'Give k=0, or ratio=0.01.'],
    ['randomk', { k: 100, ratio: 0.2 }, 'ratio', 'k', 'Give k=0, or ratio=0.01.'],
    [
      'topk',
      { 'quantize.bucket': 64 },
      'quantize.bucket',
      'quantize.bits',
      'Give quantize.bits=4, or quantize.bucket=512.',
    ],
    [
      'topk',
      { quantize: { bucket: 64 } },
      'quantize.bucket',
      'quantize.bits',
      'or quantize.bucket=512.',
    ],
    [
      'dgc',
      { rampFrom: 0.5 },
      'rampFrom',
      'rampIterations',
      'Give rampIterations or rampEpochs, or rampFrom=0.',
    ],
    ['topk', { rampStart: 5 }, 'rampStart', 'rampIterations', 'or remove "rampStart".'],
    [
      'qsgd',
      { warmupStart: 5 },
      'warmupStart',
      'warmupIterations',
      'Give warmupIterations or warmupEpochs, or remove "warmupStart".',
    ],
    ['qsgd', { levels: 100, bits: 8 }, 'bits', 'levels', 'Give levels=0, or bits=4.'],
    ['qsgd', { form: 'dense' }, 'form', 'coding', 'Give coding=elias, or form=auto.'],
    [
      'scalecom',
      { selection: 'exact', chunk: 64 },
      'chunk',
      'selection',
      'Give selection=chunk, or chunk=0.',
    ],
  ])('is refused: %s %j', (method, given, parameter, beside, next) => {
    const setting = { iterationsPerPass: 10 };
    const { code, kind, message, ...more } = errorOf({ method, ...given }, setting);
    expect({ code, kind }).toEqual({ code: 'METHOD_PARAMETER_IDLE', kind: 'input' });
    expect(message).toContain(`"${parameter}" is `);
    expect(message).toContain(`has no effect while "${beside}" is `);
    expect(more.next).toContain(next);
    expect(more.place).toBe(`method ${method}`);
    // In a layer, too.
    const layers = [{ match: '*', method, ...given }];
    expect(errorOf({ layers }, setting).code).toBe(code);
  });

  it.each([
    ['topk', { k: 100, rampIterations: 0, rampFrom: 0, ratio: 0.01 }],
    ['topk', { k: 0, rampIterations: 50 }],
    ['topk', { k: 100, quantize: { bits: 0, bucket: 512 } }],
    ['topk', { ratio: 0.2, quantize: { bits: 2, bucket: 64 } }],
    ['dgc', { rampIterations: 50, rampFrom: 0.5, rampStart: 3 }],
    ['qsgd', { warmupIterations: 50, warmupStart: 3 }],
    ['qsgd', { levels: 100, bits: 4, form: 'auto', coding: 'packed' }],
    ['qsgd', { levels: 0, bits: 8, form: 'sparse', coding: 'elias' }],
    ['scalecom', { selection: 'exact', chunk: 0 }],
    ['scalecom', { selection: 'chunk', chunk: 64 }],
  ])('at its default is none: %s %j', (method, given) => {
    expect(resolvePlan({ method, ...given }).parameters).toMatchObject(given);
  });

  it('is refused in a switch that gives it, and not where it is inherited', () => {
    const levels = resolvePlan({ method: 'qsgd', levels: 100 });
    expect(() => resolvePlan({ bits: 8 }, levels)).toThrow(
      /"bits" is 8.*"levels" is 100/,
    );
    const coarse = resolvePlan({ method: 'qsgd', bits: 8 });
    expect(resolvePlan({ levels: 100 }, coarse).parameters).toMatchObject({
      levels: 100,
    });
    const ramp = { method: 'topk', ratio: 0.01, rampIterations: 3 };
    const layers = [{ match: 'layer2*', k: 50 }];
    expect(resolvePlan({ ...ramp, layers }).layers).toMatchObject([
      { parameters: { k: 50 } },
    ]);
    expect(resolvePlan({ k: 50 }, resolvePlan(ramp)).parameters).toMatchObject({
      k: 50,
    });
    // As an earlier version may have saved it.
    const parameters = { ...coarse.parameters, levels: 100 };
    const old = { ...coarse, parameters };
    expect(resolvePlan({ scale: 'l2' }, old).parameters).toEqual({
      ...parameters,
      scale: 'l2',
    });
    // What the app's panel repeats.
    const tenth = resolvePlan({
      method: 'topk',
      ratio: 0.1,
      rampIterations: 3,
      rampFrom: 0.5,
    });
    expect(
      resolvePlan({ ...planAsChange(tenth), k: 50, rampIterations: 0 }, tenth)
        .parameters,
    ).toMatchObject({ k: 50, ratio: 0.1 });
    expect(resolvePlan({ ...parameters, scale: 'l2' }, old).parameters).toEqual({
      ...parameters,
      scale: 'l2',
    });
  });

  it.each([...methods.values()])('names parameters of $id that there are', (method) => {
    const known = Object.keys(method.parameters.shape);
    for (const { parameter, beside } of method.idle ?? []) {
      expect(known).toContain(parameter.split('.')[0]);
      expect(known).toContain(beside.split('.')[0]);
    }
  });
});

describe('resolving an exchange plan', () => {
  it('fills in what the method declares', () => {
    expect(resolvePlan({})).toEqual({
      label: 'none',
      method: 'none',
      parameters: {},
      collective: 'auto',
      bucketBytes: 4 * 2 ** 20,
    });
    expect(base.parameters).toMatchObject({ ratio: 0.05 });
  });

  it('keeps parameters that are not named while the method stays', () => {
    const change = resolvePlan({ bucketBytes: 1000 }, base);
    expect(change).toMatchObject({ method: 'topk', bucketBytes: 1000 });
    expect(change.parameters).toEqual(base.parameters);
  });

  it('does not hand one method’s parameters to another', () => {
    expect(resolvePlan({ method: 'none' }, base).parameters).toEqual({});
  });

  it('goes back to auto when the next method cannot use the last one’s collective', () => {
    const ring = resolvePlan({ method: 'none', collective: 'ring' });
    expect(resolvePlan({ method: 'topk' }, ring).collective).toBe('auto');
    expect(resolvePlan({ method: 'a2sgd' }, ring).collective).toBe('ring');
    const gathered = { method: 'a2sgd', mode: 'allgather' };
    expect(resolvePlan(gathered, ring).collective).toBe('auto');
  });

  it('gives sums that are quantised a collective that quantises', () => {
    const dense = resolvePlan({ quantizeSums: { bits: 2 } });
    const quantizeSums = { bits: 2, bucket: 1024, scale: 'max' };
    expect(dense).toMatchObject({
      collective: 'scatter-reduce-allgather',
      quantizeSums,
    });
    const sparse = resolvePlan({ method: 'topk' }, dense);
    expect(sparse).toMatchObject({ collective: 'auto' });
    expect(sparse).not.toHaveProperty('quantizeSums');
    expect(resolvePlan({ quantizeSums: { bits: 8, bucket: 64 } }, base)).toMatchObject({
      collective: 'dsar-split-allgather',
      quantizeSums: { bits: 8, bucket: 64 },
    });
  });

  it('keeps quantising sums until another collective or null', () => {
    const quantized = resolvePlan({ quantizeSums: { bits: 2 } });
    const { quantizeSums } = quantized;
    expect(resolvePlan({ bucketBytes: 1000 }, quantized)).toMatchObject({
      quantizeSums,
    });
    const repeated = { ...planAsExchange(quantized), collective: 'ring' };
    for (const change of [{ collective: 'ring' }, { quantizeSums: null }, repeated]) {
      expect(resolvePlan(change, quantized)).not.toHaveProperty('quantizeSums');
    }
  });

  it('lets a key of floats replace levels, and one of levels floats', () => {
    const levels = resolvePlan({ quantizeSums: { bits: 2, bucket: 64 } });
    const floats = resolvePlan({ 'quantizeSums.format': 'e5m2' }, levels);
    expect(floats.quantizeSums).toStrictEqual({ format: 'e5m2' });
    expect(resolvePlan({ 'quantizeSums.format': 'e4m3' }, floats)).toMatchObject({
      collective: 'scatter-reduce-allgather',
      quantizeSums: { format: 'e4m3' },
    });
    const coarse = { bits: 8, bucket: 1024, scale: 'max' };
    expect(resolvePlan({ 'quantizeSums.bits': 8 }, floats).quantizeSums).toStrictEqual(
      coarse,
    );
    expect(resolvePlan({ 'quantizeSums.bits': 8 }, levels).quantizeSums).toStrictEqual({
      ...coarse,
      bucket: 64,
    });
    expect(resolvePlan(planAsChange(levels), floats)).toEqual(levels);
    expect(resolvePlan(planAsChange(floats), levels)).toEqual(floats);
  });

  it('goes back to a plan that quantised no sums', () => {
    const plain = resolvePlan({ method: 'none' });
    const quantized = resolvePlan({ quantizeSums: { bits: 2 } }, plain);
    expect(resolvePlan(planAsChange(plain), quantized)).toEqual(plain);
    expect(resolvePlan(planAsChange(quantized), plain)).toEqual(quantized);
  });

  it('keeps δ while streams are sent, until null', () => {
    const topk = resolvePlan({ method: 'topk', delta: 0.2 });
    expect(topk.delta).toBe(0.2);
    expect(resolvePlan({ ratio: 0.1 }, topk).delta).toBe(0.2);
    expect(resolvePlan({ delta: 'auto' }, topk).delta).toBe('auto');
    expect(resolvePlan({ method: 'none' }, topk)).not.toHaveProperty('delta');
    expect(resolvePlan({ delta: null }, topk)).toEqual(resolvePlan({ method: 'topk' }));
    expect(resolvePlan(planAsExchange(topk))).toEqual(topk);
    const plain = resolvePlan({ method: 'topk' });
    expect(resolvePlan(planAsChange(plain), topk)).toEqual(plain);
    expect(resolvePlan(planAsChange(topk), plain)).toEqual(topk);
    const layers = [{ match: 'w*', method: 'topk' }];
    expect(resolvePlan({ method: 'none', delta: 0.3, layers }).delta).toBe(0.3);
  });

  describe('the units of the residual', () => {
    const updates = resolvePlan({ method: 'topk', residualUnits: 'update' });
    const plain = resolvePlan({ method: 'topk' });

    it('are those of gradients unless the plan says updates', () => {
      expect(updates).toEqual({ ...plain, residualUnits: 'update' });
      expect(resolvePlan({ method: 'topk', residualUnits: 'gradient' })).toEqual(plain);
    });

    it('stay while methods can keep them, and go by name', () => {
      for (const change of [{ ratio: 0.1 }, { method: 'scalecom' }]) {
        expect(resolvePlan(change, updates).residualUnits).toBe('update');
      }
      for (const change of [
        { method: 'none' },
        { method: 'dgc' },
        { method: 'qsgd' },
        { residualUnits: 'gradient' },
        { residualUnits: null },
        planAsChange(plain),
      ]) {
        expect(resolvePlan(change, updates)).not.toHaveProperty('residualUnits');
      }
      expect(resolvePlan(planAsChange(updates), plain)).toEqual(updates);
      expect(resolvePlan(planAsExchange(updates))).toEqual(updates);
      const layered = { layers: [{ match: '*', method: 'topk' }] };
      const base = { method: 'none', residualUnits: 'update' };
      expect(resolvePlan({ ...base, ...layered }).residualUnits).toBe('update');
    });

    it.each([
      ['none', 'method none keeps no residual'],
      ['qsgd', 'method qsgd keeps no residual'],
      ['dgc', 'dgc keeps sums of velocities'],
    ])('are refused with %s', (method, message) => {
      const refused = expect.objectContaining({
        code: 'RESIDUAL_UNITS_MISFIT',
        place: 'exchange.residualUnits',
        message: expect.stringContaining(message),
        next: expect.any(String),
      });
      expect(() => resolvePlan({ method, residualUnits: 'update' })).toThrow(refused);
      expect(() => resolvePlan({ method, residualUnits: 'update' }, plain)).toThrow(
        expect.objectContaining({ code: 'RESIDUAL_UNITS_MISFIT', place: 'switch' }),
      );
    });

    it('are two', () => {
      expect(() => resolvePlan({ method: 'topk', residualUnits: 'weight' })).toThrow(
        expect.objectContaining({ code: 'EXCHANGE_INVALID' }),
      );
    });
  });

  it('writes out how many servers there are, and keeps that while there are some', () => {
    const served = resolvePlan({ collective: 'parameter-server' });
    expect(served).toMatchObject({ collective: 'parameter-server', servers: 1 });
    const two = resolvePlan({ servers: 2 }, served);
    expect(two).toEqual({ ...served, servers: 2 });
    expect(resolvePlan({ method: 'topk', ratio: 0.1 }, two)).toMatchObject({
      method: 'topk',
      collective: 'parameter-server',
      servers: 2,
    });
    expect(resolvePlan({ servers: null }, two)).toEqual(served);
    // The app's panel repeats what holds.
    const repeated = { ...planAsExchange(two), collective: 'ring' };
    const gathered = { method: 'qsgd' };
    for (const change of [{ collective: 'ring' }, repeated, gathered]) {
      expect(resolvePlan(change, two)).not.toHaveProperty('servers');
    }
    const plain = resolvePlan({ method: 'none' });
    expect(resolvePlan(planAsChange(plain), two)).toEqual(plain);
    expect(resolvePlan(planAsChange(two), plain)).toEqual(two);
    expect(resolvePlan(planAsExchange(two))).toEqual(two);
  });

  it('has servers among the ranks alone, where it knows how many these are', () => {
    const exchange = { collective: 'parameter-server', servers: 4 };
    expect(resolvePlan(exchange, undefined, { ranks: 4 }).servers).toBe(4);
    const refused = expect.objectContaining({
      code: 'SERVERS_INVALID',
      kind: 'input',
      place: 'exchange.servers',
      message: 'servers is 4, but only 3 ranks exchange',
      next: 'Servers are ranks. Give a number from 1 to 3.',
    }) as Error;
    expect(() => resolvePlan(exchange, undefined, { ranks: 3 })).toThrow(refused);
    const before = resolvePlan({});
    expect(() => resolvePlan(exchange, before, { ranks: 3 })).toThrow(
      expect.objectContaining({ code: 'SERVERS_INVALID', place: 'switch' }) as Error,
    );
  });

  it('knows that quantised values cannot be summed on the way', () => {
    const summed = resolvePlan({ method: 'topk', collective: 'sparse-allgather' });
    expect(resolvePlan({ ratio: 0.1 }, summed).collective).toBe('sparse-allgather');
    expect(resolvePlan({ 'quantize.bits': 4 }, summed).collective).toBe('auto');
  });

  it.each([
    [{ method: 'topkk' }, 'METHOD_UNKNOWN', 'topkk', 'topk'],
    [{ ratio: 2 }, 'METHOD_PARAMETER_INVALID', '2', ''],
    [{ ratoi: 0.1 }, 'METHOD_PARAMETER_UNKNOWN_KEY', 'ratoi', 'ratio'],
    [{ method: 'none', ratio: 0.1 }, 'METHOD_PARAMETER_UNKNOWN_KEY', 'ratio', ''],
    [{ collective: 'rign' }, 'COLLECTIVE_UNKNOWN', 'rign', 'ring'],
    [{ collective: 'ring' }, 'COLLECTIVE_MISFIT', 'topk', 'sparse-allgather'],
    [
      { quantize: { bits: 4 }, collective: 'sparse-allgather' },
      'COLLECTIVE_MISFIT',
      'gathered',
      'auto',
    ],
    [{ method: 'qsgd', collective: 'ring' }, 'COLLECTIVE_MISFIT', 'qsgd', 'auto'],
    [
      { method: 'a2sgd', mode: 'allgather', collective: 'ring' },
      'COLLECTIVE_MISFIT',
      'gathered',
      'auto',
    ],
    [
      { method: 'qsgd', collective: 'scatter-reduce-allgather' },
      'COLLECTIVE_MISFIT',
      'gathered',
      'method=none with quantizeSums',
    ],
    [{ method: 'none', servers: 2 }, 'SERVERS_MISFIT', 'servers: 2', 'Remove servers'],
    [
      { method: 'none', servers: 2, collective: 'ring' },
      'SERVERS_MISFIT',
      'ring',
      'collective=parameter-server',
    ],
    [
      { method: 'qsgd', collective: 'parameter-server' },
      'COLLECTIVE_MISFIT',
      'gathered',
      'auto',
    ],
    [
      { method: 'a2sgd', collective: 'parameter-server' },
      'COLLECTIVE_MISFIT',
      'scalars',
      'ring',
    ],
    [
      { collective: 'parameter-server', quantizeSums: { bits: 4 } },
      'QUANTIZE_MISFIT',
      'parameter-server',
      'dsar-split-allgather',
    ],
    [{ collective: 'parameter-server', servers: 0 }, 'EXCHANGE_INVALID', '0', ''],
    [{ collective: 'parameter-server', servers: 1.5 }, 'EXCHANGE_INVALID', '1.5', ''],
    [{ quantizeSums: { bits: 3 } }, 'EXCHANGE_INVALID', '3', ''],
    [{ delta: 0.6 }, 'EXCHANGE_INVALID', '0.6', ''],
    [{ delta: 0 }, 'EXCHANGE_INVALID', '0', ''],
    [{ delta: 'often' }, 'EXCHANGE_INVALID', 'auto, or a number', ''],
    [{ method: 'none', delta: 0.2 }, 'DELTA_MISFIT', 'delta: 0.2', 'Remove delta'],
    [
      { method: 'none', delta: 'auto', collective: 'ring' },
      'DELTA_MISFIT',
      'ring has no sparse streams',
      'ssar-split-allgather',
    ],
    [{ method: 'qsgd', delta: 0.2 }, 'DELTA_MISFIT', 'qsgd', 'topk'],
    [
      { quantizeSums: { format: 'e4m3', bits: 4 } },
      'EXCHANGE_INVALID',
      'levels have bits, bucket and scale, floats only a format',
      '',
    ],
    [
      { 'quantizeSums.format': 'e4m3', 'quantizeSums.scale': 'l2' },
      'EXCHANGE_INVALID',
      '"quantizeSums.scale"',
      '',
    ],
    [
      { quantizeSums: { bits: 4 }, collective: 'sparse-ring' },
      'QUANTIZE_MISFIT',
      'sparse-ring',
      'dsar-split-allgather',
    ],
    [{ method: 'qsgd', quantizeSums: { bits: 4 } }, 'QUANTIZE_MISFIT', 'qsgd', ''],
    [{ bucketBytes: 0 }, 'EXCHANGE_INVALID', '0', ''],
    [{}, 'SWITCH_EMPTY', 'nothing', 'method=topk'],
  ])('refuses %j: %s', (change, code, message, next) => {
    const error = errorOf(change);
    expect(error).toMatchObject({ code, kind: 'input' });
    expect(error.place).toBeTruthy();
    expect(error.message).toContain(message);
    expect(error.next ?? '').toContain(next);
  });

  it('says which collectives carry a method', () => {
    expect(collectivesOfMethod('topk')).toEqual(
      expect.arrayContaining(['sparse-allgather', 'ssar-split-allgather']),
    );
    expect(collectivesOfMethod('topk')).not.toContain('ring');
    expect(collectivesOfMethod('none')).toEqual(
      expect.arrayContaining(['ring', 'recursive-doubling']),
    );
  });

  it('gives a layer the plan’s parameters, but for those that it names', () => {
    const plan = resolvePlan({
      method: 'topk',
      ratio: 0.05,
      'quantize.bits': 4,
      layers: [
        { match: 'conv*', ratio: 0.1 },
        { match: '*.bias', method: 'none' },
        { match: 'fc', method: 'qsgd', bits: 8 },
      ],
    });
    const [conv, bias, fc] = plan.layers!;
    expect(conv).toEqual({
      match: 'conv*',
      method: 'topk',
      label: 'topk 10 % in 4 bits',
      parameters: { ...plan.parameters, ratio: 0.1 },
    });
    expect(bias).toMatchObject({ match: '*.bias', method: 'none', parameters: {} });
    expect(fc).toMatchObject({ method: 'qsgd', parameters: { bits: 8 } });
    expect(resolvePlan(planAsExchange(plan))).toEqual(plan);
  });

  it('keeps layers while the method stays, and clears them when asked', () => {
    const plan = resolvePlan({ layers: [{ match: 'b', method: 'none' }] }, base);
    expect(resolvePlan({ ratio: 0.2 }, plan).layers).toEqual(plan.layers);
    expect(resolvePlan({ layers: [] }, plan)).not.toHaveProperty('layers');
    expect(resolvePlan({ method: 'qsgd' }, plan)).not.toHaveProperty('layers');
  });

  it('does not list all tensors of a large model', () => {
    const tensors = Array.from({ length: 100 }, (_, i) => `layer${i}`);
    const refused = (): unknown =>
      resolvePlan({ layers: [{ match: 'x' }] }, base, { tensors });
    expect(refused).toThrow(
      expect.objectContaining({ next: expect.stringMatching(/layer19 and 80 more/) }),
    );
  });

  it('gives momentum within a method the optimiser’s, unless it is given', () => {
    const setting = { momentum: 0.6 };
    const momentum = (
      change: Record<string, unknown>,
      from?: ReturnType<typeof resolvePlan>,
    ): unknown => resolvePlan(change, from, setting).parameters.momentum;
    const launched = resolvePlan({ method: 'dgc' }, undefined, setting);
    expect(launched.parameters.momentum).toBe(0.6);
    expect(momentum({ method: 'dgc', momentum: 0 })).toBe(0);
    expect(momentum({ method: 'dgc' }, base)).toBe(0.6);
    expect(momentum({ ratio: 0.2 }, launched)).toBe(0.6);
    expect(momentum({ momentum: 0.3 }, launched)).toBe(0.3);
    expect(momentum({ method: 'topk' })).toBeUndefined();
    const layers = [{ match: 'w', method: 'dgc' }];
    const plan = resolvePlan({ method: 'topk', layers }, undefined, setting);
    expect(plan.layers![0]!.parameters.momentum).toBe(0.6);
  });

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

  it.each([
    [[{ match: 'convv*', ratio: 0.1 }], 'LAYER_UNKNOWN', '"convv*"', 'conv1.weight, b'],
    [[{ match: 'b', ratoi: 0.1 }], 'METHOD_PARAMETER_UNKNOWN_KEY', 'ratoi', 'ratio'],
    [[{ match: 'b', method: 'topkk' }], 'METHOD_UNKNOWN', 'topkk', 'topk'],
    [[{ match: 'b', collective: 'ring' }], 'METHOD_PARAMETER_UNKNOWN_KEY', 'ring', ''],
    [[{ ratio: 0.1 }], 'EXCHANGE_INVALID', 'match', ''],
    ['*.bias=1', 'EXCHANGE_INVALID', '*.bias=1', ''],
  ])('refuses layers %j: %s', (layers, code, message, next) => {
    const setting = { tensors: ['conv1.weight', 'b'] };
    let thrown: unknown;
    try {
      resolvePlan({ layers }, base, setting);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, kind: 'input' });
    const error = thrown as GradwireError;
    expect(`${error.message} ${error.place}`).toContain(
      message === 'ring' ? 'collective' : message,
    );
    expect(error.next ?? '').toContain(next);
  });
});
