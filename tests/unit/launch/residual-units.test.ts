/** Which specs can keep a residual in units of updates. */
import { describe, expect, it } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';

type Section = Record<string, unknown>;

const spec = (rest: Section): Section => ({
  ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
  ...{ world: { ranks: 2 }, exchange: { method: 'topk', residualUnits: 'update' } },
  ...rest,
});

describe('residualUnits: update', () => {
  it.each<[string, Section]>([
    ['SGD with momentum', {}],
    ['plain SGD', { optimizer: { momentum: 0, schedule: 'cosine' } }],
    ['overlap', { overlap: true }],
    ['gradients that are late', { doubleBuffer: true }],
    ['SVRG', { optimizer: { fullGradientEvery: 10 } }],
  ])('goes with %s', (_, rest) => {
    const { plan, spec: written } = checkedLaunch(spec(rest));
    expect(plan.residualUnits).toBe('update');
    expect(written.exchange).toMatchObject({ residualUnits: 'update' });
  });

  it.each<[Section, string]>([
    [
      { optimizer: { kind: 'adam' } },
      'adam does not change weights by the learning rate',
    ],
    [
      { optimizer: { kind: 'lars' } },
      'lars does not change weights by the learning rate',
    ],
    [{ parallelism: { kind: 'local-steps' } }, 'local steps exchange how far'],
    [
      { parallelism: { kind: 'asynchronous' } },
      'servers apply gradients of several ranks',
    ],
  ])('is refused with %j', (rest, message) => {
    const refused = expect.objectContaining({
      code: 'RESIDUAL_UNITS_MISFIT',
      place: 'exchange.residualUnits',
      message: expect.stringContaining(message),
    });
    expect(() => checkedLaunch(spec(rest))).toThrow(refused);
    const usual = spec({ ...rest, exchange: { method: 'topk' } });
    const change = { residualUnits: 'update' };
    expect(() => checkedLaunch(usual, [{ change, at: 5 }])).toThrow(
      expect.objectContaining({ code: 'RESIDUAL_UNITS_MISFIT', place: 'switch' }),
    );
  });
});
