import { describe, expect, it } from 'vitest';
import { collectivesOfMethod } from '../../../src/agent/plan/collectives-of-method.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { planAsExchange } from '../../../src/shared/plan/exchange-plan.ts';
import { base, errorOf, planAsChange } from './topk-plan.ts';

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
});
