import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parameterEntries } from '../../../src/agent/methods/parameter-entries.ts';
import {
  describeMethods,
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';

describe('registry', () => {
  it('names the nearest method for one that does not exist', () => {
    expect(() => findMethod('top-k')).toThrow(
      expect.objectContaining({
        code: 'METHOD_UNKNOWN',
        kind: 'input',
        message: expect.stringContaining('"top-k"'),
        next: 'Did you mean "topk"?',
      }),
    );
    expect(() => findMethod('xxxxxxxxxx')).toThrow(
      expect.objectContaining({
        next: expect.stringContaining('none, bf16, fp16, fp8, topk, '),
      }),
    );
  });

  it('fills in defaults', () => {
    expect(validateParameters(findMethod('topk'), { ratio: 0.1 })).toEqual({
      ratio: 0.1,
      rampIterations: 0,
      rampFrom: 0,
      k: 0,
      bucket: 0,
      quantize: { bits: 0, bucket: 512 },
      diagnosticsEvery: 0,
      minElements: 0,
      rampEpochs: 0,
      warmupEpochs: 0,
      warmupIterations: 0,
    });
    expect(validateParameters(findMethod('a2sgd'), { mode: 'allgather' })).toEqual({
      mode: 'allgather',
      granularity: 'model',
      resyncEvery: 0,
      divergenceEvery: 50,
    });
  });

  it.each([
    ['topk', { ratio: 0 }, 'INVALID', '"ratio" is 0', 'above 0'],
    ['topk', { ratio: 1.5 }, 'INVALID', '"ratio" is 1.5', 'at most 1'],
    ['topk', { ratio: 'x' }, 'INVALID', '"ratio" is "x"', 'number'],
    ['topk', { k: 2.5 }, 'INVALID', '"k" is 2.5', 'a whole number'],
    ['topk', { k: -1 }, 'INVALID', '"k" is -1', 'at least 0'],
    ['a2sgd', { mode: 'ring' }, 'INVALID', '"mode" is "ring"', 'allgather'],
    ['a2sgd', { resyncEvery: -5 }, 'INVALID', '"resyncEvery" is -5', 'at least 0'],
    [
      'topk',
      { quantize: { bits: 1 } },
      'INVALID',
      '"quantize.bits" is 1',
      '0, or 2 to 8',
    ],
    ['topk', { 'quantize.bits': 9 }, 'INVALID', '"quantize.bits" is 9', '8'],
    ['topk', { 'quantize.bit': 4 }, 'UNKNOWN_KEY', '"quantize.bit"', ''],
    ['qsgd', { bits: 9 }, 'INVALID', '"bits" is 9', 'at most 8'],
    ['qsgd', { levels: 40_000 }, 'INVALID', '"levels" is 40000', 'at most 32767'],
    ['topk', { ratoi: 0.1 }, 'UNKNOWN_KEY', '"ratoi"', '"ratio"'],
    ['none', { ratio: 0.1 }, 'UNKNOWN_KEY', '"ratio"', 'none'],
  ])('refuses %s %j', (id, raw, code, value, expected) => {
    let thrown: unknown;
    try {
      validateParameters(findMethod(id), raw);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: `METHOD_PARAMETER_${code}`,
      kind: 'input',
      place: `method ${id}`,
      message: expect.stringContaining(value),
    });
    const { message, next, place } = thrown as Record<string, string>;
    expect(`${message} ${next} ${place}`).toContain(expected);
  });

  it('takes a part of a parameter by itself, and leaves the others', () => {
    const parameters = (given: JsonObject): unknown =>
      validateParameters(findMethod('topk'), given)['quantize'];
    expect(parameters({ 'quantize.bits': 4 })).toEqual({ bits: 4, bucket: 512 });
    expect(parameters({ quantize: { bucket: 64 }, 'quantize.bits': 2 })).toEqual({
      bits: 2,
      bucket: 64,
    });
  });

  it('describes every parameter, with its default unless it depends on the run', () => {
    const byTheRun = new Set(['rampStart', 'warmupStart', 'momentum']);
    expect(describeMethods().map(({ id }) => id)).toEqual([...methods.keys()]);
    for (const { parameters } of describeMethods()) {
      for (const entry of parameters) {
        expect(entry.description).not.toBe('');
        expect(entry.default !== undefined).toBe(!byTheRun.has(entry.key));
      }
    }
  });
});

describe('parameterEntries', () => {
  it('shows the parts of a field that has parts, and the ones that matter first', () => {
    const topk = describeMethods().find(({ id }) => id === 'topk')!;
    expect(topk.parameters.map(({ key }) => key).slice(0, 5)).toEqual([
      'ratio',
      'k',
      'bucket',
      'quantize.bits',
      'quantize.bucket',
    ]);
    expect(topk.parameters[3]).toMatchObject({
      type: 'integer',
      title: 'Quantize bits',
      default: 0,
      maximum: 8,
    });
  });

  it('shows each kind of field', () => {
    const schema = z.strictObject({
      share: z.number().gt(0).lte(1).default(0.5).describe('A share'),
      resyncEvery: z.int().min(0).default(3).describe('A count'),
      fast: z.boolean().default(true).describe('A switch'),
      mode: z.enum(['a', 'b']).default('b').describe('A choice'),
      label: z.string().optional().describe('A text'),
    });
    expect(parameterEntries(schema)).toEqual([
      {
        key: 'share',
        type: 'number',
        title: 'Share',
        description: 'A share',
        default: 0.5,
        minimum: 0,
        maximum: 1,
      },
      {
        key: 'resyncEvery',
        type: 'integer',
        title: 'Resync every',
        description: 'A count',
        default: 3,
        minimum: 0,
      },
      {
        key: 'fast',
        type: 'boolean',
        title: 'Fast',
        description: 'A switch',
        default: true,
      },
      {
        key: 'mode',
        type: 'choice',
        title: 'Mode',
        description: 'A choice',
        default: 'b',
        choices: ['a', 'b'],
      },
      { key: 'label', type: 'text', title: 'Label', description: 'A text' },
    ]);
  });

  it('a field that no form can show is a bug', () => {
    expect(() => parameterEntries(z.strictObject({ list: z.array(z.int()) }))).toThrow(
      'internal: parameter list',
    );
  });
});
