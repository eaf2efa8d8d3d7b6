/** What the public registries refuse, and that what they refused is not in them. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  collectives,
  findCollective,
  registerCollective,
} from '../../../src/agent/collectives/registry.ts';
import type { MethodDefinition } from '../../../src/agent/methods/method.ts';
import { none } from '../../../src/agent/methods/none.ts';
import {
  describeMethods,
  findMethod,
  methods,
  registerMethod,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { driftOf } from '../../../src/agent/plan/tensor-policy.ts';
import { digits } from '../../../src/agent/training/datasets/digits.ts';
import {
  datasets,
  registerDataset,
} from '../../../src/agent/training/datasets/registry.ts';
import { lstmSmall } from '../../../src/agent/training/models/lstm-small.ts';
import { models, registerModel } from '../../../src/agent/training/models/registry.ts';
import { registerOrderAction } from '../../../src/agent/exchange/order-actions.ts';
import { runOrderSchema } from '../../../src/shared/orders/orders.ts';
import { registerOrder } from '../../../src/shared/protocol/register-order.ts';
import { greet, greeting } from './greet.ts';
import { star } from './star.ts';
import { striding } from './striding.ts';

const withParameters = (id: string, parameters: z.ZodObject): MethodDefinition => ({
  ...none,
  id,
  parameters,
  create: (context) => none.create({ ...context, parameters: {} }),
});

const input = (code: string, message: RegExp): unknown =>
  expect.objectContaining({
    code,
    kind: 'input',
    message: expect.stringMatching(message) as string,
    next: expect.stringMatching(/./) as string,
  });

describe('a method from outside', () => {
  test('is found, validated and described once it is registered', () => {
    expect(() => findMethod('striding')).toThrow(/no compression method/);
    registerMethod(striding);
    expect(findMethod('striding')).toBe(striding);
    expect(validateParameters(striding, {})).toEqual({ stride: 4 });
    expect(describeMethods().at(-1)).toMatchObject({ id: 'striding' });
    expect(() => {
      registerMethod(striding);
    }).toThrow(input('METHOD_DUPLICATE', /"striding" is already taken/) as Error);
  });

  test.each([
    ['none', {}, 'METHOD_DUPLICATE', /"none" is already taken/],
    ['Top K', {}, 'METHOD_INVALID', /"Top K" .* lower-case/],
    ['layered', { layers: 'int' }, 'METHOD_INVALID', /"layers" has a reserved name/],
    [
      'residing',
      { residual: 'int' },
      'METHOD_INVALID',
      /"residual" has a reserved name/,
    ],
    ['listing', { list: 'array' }, 'METHOD_INVALID', /parameter list/],
    ['lacking', { share: 'bare' }, 'METHOD_INVALID', /no default/],
    ['silent', { share: 'undescribed' }, 'METHOD_INVALID', /"share" is not described/],
  ] as const)('is refused as %s with %j', (id, fields, code, message) => {
    const kinds = {
      int: z.int().default(1).describe('A count'),
      array: z.array(z.int()).default([]).describe('A list'),
      bare: z.number().describe('A share'),
      undescribed: z.number().default(1),
    };
    const shape = Object.fromEntries(
      Object.entries(fields).map(([name, kind]) => [name, kinds[kind]]),
    );
    const before = [...methods.keys()];
    expect(() => {
      registerMethod(withParameters(id, z.strictObject(shape)));
    }).toThrow(input(code, message) as Error);
    expect([...methods.keys()]).toEqual(before);
  });

  test('states its drift, and the length of its epochs', () => {
    const parameters = z.strictObject({
      often: z.int().default(7).describe('Iterations between averages'),
      calmIterations: z.int().default(0).describe('A length'),
      calmEpochs: z.number().default(0).describe('The same in epochs'),
    });
    const drifting: MethodDefinition = {
      ...withParameters('drifting', parameters),
      replicas: 'drift',
      schedules: [{ iterations: 'calmIterations', epochs: 'calmEpochs' }],
      drift: ({ often }) => ({ measureEvery: 0, resyncEvery: Number(often) }),
    };
    registerMethod(drifting);
    const setting = { iterationsPerPass: 25 };
    const plan = resolvePlan({ method: 'drifting', calmEpochs: 2 }, undefined, setting);
    expect(plan.parameters).toEqual({ often: 7, calmIterations: 50, calmEpochs: 0 });
    expect(driftOf(plan, [{ name: 'w', length: 10 }])).toEqual({
      drifts: true,
      measureEvery: 0,
      resyncEvery: 7,
    });
  });
});

describe('a collective from outside', () => {
  test('is found, and fits the methods whose payloads it takes', () => {
    registerCollective(star);
    expect(findCollective('star')).toBe(star);
    expect(resolvePlan({ method: 'none', collective: 'star' }).collective).toBe('star');
    expect(() => resolvePlan({ method: 'topk', collective: 'star' })).toThrow(/star/);
  });

  test.each([
    [{}, 'COLLECTIVE_DUPLICATE', /"star" is already taken/],
    [{ id: 'auto', code: 902 }, 'COLLECTIVE_DUPLICATE', /"auto"/],
    [{ id: 'allgather', code: 902 }, 'COLLECTIVE_DUPLICATE', /"allgather"/],
    [{ id: 'moon' }, 'COLLECTIVE_INVALID', /code 901 is already used by star/],
    [{ id: 'moon', code: 4 }, 'COLLECTIVE_INVALID', /already used by rabenseifner/],
    [{ id: 'moon', code: 1001 }, 'COLLECTIVE_INVALID', /1001 is not in 1 … 999/],
    [{ id: 'moon', code: 0.5 }, 'COLLECTIVE_INVALID', /0\.5 is not in/],
    [{ id: 'moon', code: 902, takes: [] }, 'COLLECTIVE_INVALID', /takes no payloads/],
  ])('is refused with %j', (change, code, message) => {
    expect(() => {
      registerCollective({ ...star, ...change });
    }).toThrow(input(code, message) as Error);
    expect(collectives.has('moon') || collectives.has('auto')).toBe(false);
  });
});

describe('models and data sets from outside', () => {
  const [weight] = lstmSmall.tensors;

  test.each([
    [{}, 'MODEL_DUPLICATE', /"lstm-small"/],
    [
      { id: 'empty', tensors: [] },
      'MODEL_INVALID',
      /"tensors": it must have at least 1 item/,
    ],
    [
      { id: 'twice', tensors: [weight!, weight!] },
      'MODEL_INVALID',
      /two of its tensors have the name "[\w.]+"/,
    ],
    [{ id: 'more', width: 3 }, 'MODEL_INVALID', /"width"/],
    [{ id: 'bert', metric: 'bleu' }, 'MODEL_INVALID', /"metric"/],
  ])('a model is refused with %j', (change, code, message) => {
    const before = [...models.keys()];
    expect(() => {
      registerModel({ ...lstmSmall, ...change });
    }).toThrow(input(code, message) as Error);
    expect([...models.keys()]).toEqual(before);
  });

  test.each([
    [{}, 'DATASET_DUPLICATE', /"digits"/],
    [{ id: 'bare', fields: {} }, 'DATASET_INVALID', /no fields/],
  ])('a data set is refused with %j', (change, code, message) => {
    const before = [...datasets.keys()];
    expect(() => {
      registerDataset({ ...digits, ...change });
    }).toThrow(input(code, message) as Error);
    expect([...datasets.keys()]).toEqual(before);
  });
});

describe('an order from outside', () => {
  test.each([
    [{ ...greet, type: 'stop' }, 'ORDER_DUPLICATE', /"stop" is already taken/],
    [{ ...greet, type: 'Greet all' }, 'ORDER_INVALID', /"Greet all" .* lower-case/],
    [{ ...greet, asked: z.object({ run: z.string() }) }, 'ORDER_INVALID', /key "run"/],
    [{ ...greet, type: 'ping' }, 'ORDER_DUPLICATE', /"ping" is already taken/],
  ] as const)('is refused: %#', (definition, code, message) => {
    expect(() => {
      registerOrder(definition);
    }).toThrow(input(code, message) as Error);
  });

  test('has one act of the engine, once it is registered', () => {
    const act = (): void => {
      registerOrderAction(greet.type, greeting);
    };
    expect(act).toThrow(input('ORDER_INVALID', /no order of this type/) as Error);
    registerOrder(greet);
    act();
    expect(act).toThrow(input('ORDER_INVALID', /it has an act already/) as Error);
    expect(runOrderSchema.parse({ type: 'greet', text: 'x', more: 1 })).toEqual({
      type: 'greet',
      text: 'x',
    });
  });
});
