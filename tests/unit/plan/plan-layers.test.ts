import { describe, expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { planAsExchange } from '../../../src/shared/plan/exchange-plan.ts';
import type { GradwireError } from '../../../src/shared/errors/errors.ts';
import { base } from './topk-plan.ts';

describe('the layers of an exchange plan', () => {
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
