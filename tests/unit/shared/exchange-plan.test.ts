import { describe, expect, it } from 'vitest';
import {
  describePlan,
  describeSwitch,
  planAsExchange,
  planLabel,
} from '../../../src/shared/exchange-plan.ts';

describe('a plan in words', () => {
  it.each([
    [{ method: 'none', parameters: {} }, 'none'],
    [{ method: 'topk', parameters: { ratio: 0.01 } }, 'topk 1 %'],
    [{ method: 'topk', parameters: { ratio: 0.0005 } }, 'topk 0.05 %'],
    [{ method: 'qsgd', parameters: { bits: 4 } }, 'qsgd 4 bit'],
    [
      { method: 'topk', parameters: { ratio: 0.01, quantize: { bits: 4 } } },
      'topk 1 % in 4 bits',
    ],
    [{ method: 'topk', parameters: { k: 3, quantize: { bits: 0 } } }, 'topk k=3'],
  ])('%j is called %s', (of, label) => {
    expect(planLabel(of)).toBe(label);
  });

  it('names a collective only where one was chosen', () => {
    const plan = { method: 'none', parameters: {}, collective: 'auto' };
    expect(describePlan(plan)).toBe('none');
    expect(describePlan({ ...plan, collective: 'ring' })).toBe('none over ring');
    const quantizeSums = { bits: 4, bucket: 1024, scale: 'max' } as const;
    const quantized = { ...plan, collective: 'scatter-reduce-allgather', quantizeSums };
    expect(describePlan(quantized)).toBe(
      'none over scatter-reduce-allgather in 4 bits',
    );
  });

  it('says how many servers a collective has', () => {
    const collective = 'parameter-server';
    const plan = { method: 'none', parameters: {}, collective, bucketBytes: 4096 };
    expect(describePlan({ ...plan, servers: 1 })).toBe(
      'none over parameter-server with 1 server',
    );
    const two = { ...plan, servers: 2 };
    expect(describePlan(two)).toBe('none over parameter-server with 2 servers');
    expect(planAsExchange(two)).toMatchObject({ collective, servers: 2 });
    expect(planAsExchange(plan)).not.toHaveProperty('servers');
  });

  it('names layers with what they have of their own', () => {
    const layers = [
      { match: '*.bias', method: 'none', parameters: {} },
      { match: 'conv*', method: 'topk', parameters: { ratio: 0.1 } },
    ];
    const plan = { method: 'topk', parameters: { ratio: 0.01 }, collective: 'auto' };
    expect(describePlan({ ...plan, layers })).toBe(
      'topk 1 % [*.bias: none, conv*: topk 10 %]',
    );
    expect(describePlan({ ...plan, layers: [] })).toBe('topk 1 %');
  });

  it('is written as it can be read again', () => {
    const plan = {
      method: 'topk',
      parameters: { ratio: 0.01, quantize: { bits: 4, bucket: 512 } },
      collective: 'auto',
      bucketBytes: 4096,
      layers: [{ match: '*.bias', method: 'none', parameters: {} }],
    };
    expect(planAsExchange(plan)).toEqual({
      method: 'topk',
      ratio: 0.01,
      quantize: { bits: 4, bucket: 512 },
      collective: 'auto',
      bucketBytes: 4096,
      layers: [{ match: '*.bias', method: 'none' }],
    });
  });

  it('says what a switch changes where the labels do not', () => {
    const from = {
      method: 'topk',
      parameters: { ratio: 0.01, quantize: { bits: 0 } },
      collective: 'auto',
      bucketBytes: 4096,
    };
    const to = { ...from, parameters: { ratio: 0.01, quantize: { bits: 4 } } };
    expect(describeSwitch(from, to)).toBe(
      'topk 1 % → topk 1 % in 4 bits (quantize {"bits":0} → {"bits":4})',
    );
    expect(describeSwitch(from, { ...from, method: 'a2sgd', parameters: {} })).toBe(
      'topk 1 % → a2sgd',
    );
  });
});
