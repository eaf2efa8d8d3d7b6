import { describe, expect, it } from 'vitest';
import {
  changeToCollective,
  changeToMethod,
  residualQuestion,
  suggestedChange,
} from '../../../src/renderer/state/experiment/run-change.ts';
import { planAsChange } from '../../../src/shared/plan/exchange-plan.ts';
import type {
  Catalogue,
  MethodEntry,
} from '../../../src/shared/catalogue/catalogue.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';

const topk = {
  id: 'topk',
  parameters: [
    { key: 'ratio', type: 'number', title: '', description: '', default: 0.001 },
    { key: 'quantize.bits', type: 'integer', title: '', description: '', default: 0 },
  ],
} as unknown as MethodEntry;

const plan = {
  method: 'topk',
  parameters: { ratio: 0.02 },
  collective: 'sparse-allgather',
  bucketBytes: 4096,
};

describe('a change of plan', () => {
  it('to go back names everything that the plan had', () => {
    expect(planAsChange(plan, [])).toEqual({
      method: 'topk',
      ratio: 0.02,
      collective: 'sparse-allgather',
      bucketBytes: 4096,
      layers: [],
      quantizeSums: null,
      delta: null,
      residualUnits: 'gradient',
    });
  });

  it('to another method takes its defaults and lets the collective be chosen', () => {
    const none = { ...plan, method: 'none', parameters: {}, collective: 'ring' };
    expect(changeToMethod(topk, none)).toEqual({
      method: 'topk',
      ratio: 0.001,
      quantize: { bits: 0 },
      collective: 'auto',
    });
  });

  it('within a method keeps what is in force', () => {
    const quantized = { ratio: 0.02, quantize: { bits: 4 } };
    expect(changeToMethod(topk, { ...plan, parameters: quantized })).toEqual({
      method: 'topk',
      ...quantized,
      collective: 'sparse-allgather',
    });
  });

  it('is suggested where nothing is compressed: the method that invites, as it says', () => {
    const methods = [
      { id: 'plain', uncompressed: true, parameters: [] },
      { id: 'dgc', parameters: [] },
      { ...topk, invitation: { ratio: 0.1 } },
    ] as unknown as readonly MethodEntry[];
    expect(suggestedChange(methods, { ...plan, method: 'plain' })).toEqual({
      method: 'topk',
      ratio: 0.1,
      quantize: { bits: 0 },
      collective: 'auto',
    });
    expect(suggestedChange(methods, { ...plan, method: 'dgc' })).toBeUndefined();
    expect(
      suggestedChange(methods.slice(0, 2), { ...plan, method: 'plain' }),
    ).toBeUndefined();
  });

  it('to another collective keeps the number of servers where that has some', () => {
    const collectives = [
      { id: 'ring' },
      { id: 'served', hasServers: true },
      { id: 'served-too', hasServers: true },
    ] as unknown as Catalogue['collectives'];
    const change = planAsChange({ ...plan, collective: 'served', servers: 2 }, []);
    const to = (id: string) => changeToCollective({ collectives }, change, id);
    expect(to('served-too')).toMatchObject({ collective: 'served-too', servers: 2 });
    expect(to('ring')).toMatchObject({ collective: 'ring', ratio: 0.02 });
    expect(to('ring')).not.toHaveProperty('servers');
  });
});

describe('the residual at a fence', () => {
  const entry = (id: string, residual: boolean, payload: string): MethodEntry =>
    ({ id, residual, payload }) as unknown as MethodEntry;
  const methods = [
    entry('none', false, 'dense'),
    { ...entry('topk', true, 'sparse'), apartBelow: 'minElements' },
    { ...entry('dgc', true, 'sparse'), residualOf: 'velocity' },
    entry('onebit', true, 'quantized'),
    entry('qsgd', false, 'quantized'),
  ];
  const layer = (match: string, method: string): JsonObject => ({ match, method });
  const bias = layer('*.bias', 'none');

  it.each([
    ['none to anything', { method: 'none' }, { method: 'topk' }, undefined],
    ['topk to none', { method: 'topk' }, { method: 'none' }, 'asked'],
    ['topk to dgc, in other units', { method: 'topk' }, { method: 'dgc' }, 'asked'],
    ['dgc to itself', { method: 'dgc' }, { method: 'dgc' }, 'kept'],
    ['topk to onebit', { method: 'topk' }, { method: 'onebit' }, 'kept'],
    [
      'a layer under none keeps one',
      { method: 'none', layers: [layer('conv*', 'topk')] },
      { method: 'qsgd' },
      'asked',
    ],
    [
      'a layer that keeps none is new',
      { method: 'topk' },
      { method: 'topk', layers: [bias] },
      'asked',
    ],
    [
      'a layer that keeps none was there',
      { method: 'topk', layers: [bias] },
      { method: 'topk', ratio: 0.1, layers: [bias] },
      'kept',
    ],
    [
      'another layer keeps none',
      { method: 'topk', layers: [bias] },
      { method: 'topk', layers: [layer('*.weight', 'none')] },
      'asked',
    ],
    [
      'layers that name no method have the base’s',
      { method: 'topk' },
      { method: 'onebit', layers: [{ match: 'conv*' }] },
      'kept',
    ],
    [
      'small tensors begin to travel dense',
      { method: 'topk', minElements: 0 },
      { method: 'topk', minElements: 100 },
      'asked',
    ],
    [
      'small tensors travelled dense',
      { method: 'topk', minElements: 100 },
      { method: 'topk', minElements: 100, ratio: 0.1 },
      'kept',
    ],
    [
      'a quantiser takes small tensors along',
      { method: 'topk' },
      { method: 'onebit', minElements: 10_000 },
      'kept',
    ],
  ] as [string, JsonObject, JsonObject, string | undefined][])(
    '%s',
    (_, { method, layers = [], ...parameters }, change, answer) => {
      const from = {
        ...plan,
        method: String(method),
        parameters,
        layers: (layers as { match: string; method: string }[]).map((own) => ({
          ...own,
          parameters: {},
        })),
      };
      expect(residualQuestion({ methods }, from, change)).toBe(answer);
    },
  );
});
