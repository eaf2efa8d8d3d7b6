import { describe, expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { errorOf, planAsChange } from './topk-plan.ts';

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
