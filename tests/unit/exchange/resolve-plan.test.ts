import { describe, expect, it } from 'vitest';
import {
  collectivesOfMethod,
  resolvePlan,
} from '../../../src/agent/exchange/resolve-plan.ts';
import { GradwireError } from '../../../src/shared/errors.ts';

const base = resolvePlan({ method: 'topk', ratio: 0.05 });

function errorOf(change: Record<string, unknown>): GradwireError {
  try {
    resolvePlan(change, base);
  } catch (error) {
    if (error instanceof GradwireError) return error;
    throw error;
  }
  throw new Error('expected a coded error');
}

describe('resolving an exchange plan', () => {
  it('fills in what the method declares', () => {
    expect(resolvePlan({})).toEqual({
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
  });

  it('knows that quantised values cannot be summed on the way', () => {
    const summed = resolvePlan({ method: 'topk', collective: 'sparse-allgather' });
    expect(resolvePlan({ ratio: 0.1 }, summed).collective).toBe('sparse-allgather');
    expect(resolvePlan({ valueBits: 4 }, summed).collective).toBe('auto');
  });

  it.each([
    [{ method: 'topkk' }, 'METHOD_UNKNOWN', 'topkk', 'topk'],
    [{ ratio: 2 }, 'METHOD_PARAMETER_INVALID', '2', ''],
    [{ ratoi: 0.1 }, 'METHOD_PARAMETER_UNKNOWN_KEY', 'ratoi', 'ratio'],
    [{ method: 'none', ratio: 0.1 }, 'METHOD_PARAMETER_UNKNOWN_KEY', 'ratio', ''],
    [{ collective: 'rign' }, 'COLLECTIVE_UNKNOWN', 'rign', 'ring'],
    [{ collective: 'ring' }, 'COLLECTIVE_MISFIT', 'topk', 'sparse-allgather'],
    [
      { valueBits: 4, collective: 'sparse-allgather' },
      'COLLECTIVE_MISFIT',
      'gathered',
      'auto',
    ],
    [{ method: 'qsgd', collective: 'ring' }, 'COLLECTIVE_MISFIT', 'qsgd', 'auto'],
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
});
