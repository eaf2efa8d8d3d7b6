import { describe, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';

const minimal = { workload: { model: 'fnn3', dataset: 'digits' } };

function errorOf(raw: unknown): GradwireError {
  try {
    parseExperimentSpec(raw);
  } catch (error) {
    if (error instanceof GradwireError) return error;
    throw error;
  }
  throw new Error('expected a coded error');
}

describe('the experiment spec', () => {
  it('has no key __proto__ at any depth, and no part that contains itself', () => {
    const spec = (exchange: unknown) => ({
      workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
      iterations: 1,
      exchange,
    });
    const hidden = JSON.parse(
      '{ "method": "topk", "layers": [{ "match": "*", "__proto__": { "ratio": 0.5 } }] }',
    ) as unknown;
    expect(() => parseExperimentSpec(spec(hidden))).toThrow(
      expect.objectContaining({
        code: 'SPEC_UNKNOWN_KEY',
        message: 'unknown key "exchange.layers.0.__proto__"',
      }),
    );
    const loop: Record<string, unknown> = { method: 'topk' };
    loop['layers'] = loop;
    expect(() => parseExperimentSpec(spec(loop))).toThrow(
      expect.objectContaining({
        code: 'SPEC_INVALID',
        message: '"exchange.layers" contains itself',
      }),
    );
  });

  it('has no whole numbers that JSON has not, and says so', () => {
    for (const seed of [2n ** 63n, { deep: [2n ** 63n] }]) {
      expect(errorOf({ ...minimal, seed })).toMatchObject({
        code: 'SPEC_INVALID',
        message: expect.stringMatching(/^"seed" is .*9223372036854775808/) as string,
      });
    }
  });

  it('fills in every default', () => {
    expect(parseExperimentSpec(minimal)).toMatchObject({
      world: { ranks: 4, nodes: ['this-computer'] },
      optimizer: { kind: 'sgd', momentum: 0.9 },
      exchange: { method: 'none', collective: 'auto' },
      backend: 'auto',
    });
  });

  it('leaves the method’s parameters to the method', () => {
    const spec = parseExperimentSpec({
      ...minimal,
      exchange: { method: 'topk', ratio: 0.01 },
    });
    expect(spec.exchange).toMatchObject({ method: 'topk', ratio: 0.01 });
  });

  it.each([
    [{ ...minimal, iteration: 5 }, 'SPEC_UNKNOWN_KEY', '"iteration"', '"iterations"'],
    [
      { workload: { ...minimal.workload, batch: 5 } },
      'SPEC_UNKNOWN_KEY',
      '"workload.batch"',
      'batchPerRank',
    ],
    [{ ...minimal, world: { ranks: 0 } }, 'SPEC_INVALID', '"world.ranks" is 0', ''],
    [{ ...minimal, iterations: 'many' }, 'SPEC_INVALID', '"iterations" is "many"', ''],
    [{ ...minimal, backend: 'cuda' }, 'SPEC_INVALID', '"backend" is "cuda"', ''],
    [
      { workload: { model: 'fnn3' } },
      'SPEC_INVALID',
      '"workload.dataset" is missing',
      '',
    ],
    [
      { ...minimal, world: { ranks: 5000 } },
      'SPEC_INVALID',
      '"world.ranks" is 5000: it must be at most 1024',
      '',
    ],
    [
      { ...minimal, iterations: 1e99 },
      'SPEC_INVALID',
      '"iterations" is 1e+99: it is too large',
      '',
    ],
    [
      { ...minimal, optimizer: { lr: NaN } },
      'SPEC_INVALID',
      '"optimizer.lr" is NaN: expected a number',
      '',
    ],
    [
      { ...minimal, optimizer: { lr: -1 } },
      'SPEC_INVALID',
      '"optimizer.lr" is -1: it must be above 0',
      '',
    ],
    [
      { ...minimal, name: '' },
      'SPEC_INVALID',
      '"name" is "": it must have at least 1 character',
      '',
    ],
    [
      { ...minimal, name: 'x'.repeat(1000) },
      'SPEC_INVALID',
      `xx…: it must have at most 120 characters`,
      '',
    ],
    [
      { ...minimal, name: 'red\u001b[31m' },
      'SPEC_INVALID',
      '"name" is "red\\u001b[31m": control characters are not allowed',
      '',
    ],
    ['text', 'SPEC_INVALID', '"(whole)"', ''],
    [null, 'SPEC_INVALID', '"(whole)"', ''],
  ])('%j is refused: %s', (raw, code, message, next) => {
    const error = errorOf(raw);
    expect(error).toMatchObject({ code, kind: 'input' });
    expect(error.message).toContain(message);
    expect(error.next).toContain(next);
  });
});
