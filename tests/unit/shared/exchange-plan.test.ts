import { describe, expect, it } from 'vitest';
import {
  describePlan,
  describeSwitch,
  labelBeside,
  planAsExchange,
  planLabel,
} from '../../../src/shared/plan/exchange-plan.ts';

describe('a plan in words', () => {
  it('is called what it says, or by its method where it says nothing', () => {
    expect(planLabel({ method: 'topk', label: 'topk 1 %' })).toBe('topk 1 %');
    expect(planLabel({ method: 'topk' })).toBe('topk');
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
    const floats = { ...quantized, quantizeSums: { format: 'e4m3' } as const };
    expect(describePlan(floats)).toBe('none over scatter-reduce-allgather in e4m3');
  });

  it('says at which share streams turn dense, where the plan does', () => {
    const plan = { method: 'topk', parameters: {}, collective: 'auto' };
    expect(describePlan({ ...plan, delta: 0.25 })).toBe('topk, dense at 25 %');
    expect(describePlan({ ...plan, delta: 'auto' })).toBe(
      'topk, dense at the cheapest δ',
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
      { match: 'conv*', method: 'topk', label: 'topk 10 %', parameters: {} },
    ];
    const label = 'topk 1 %';
    const plan = { method: 'topk', label, parameters: {}, collective: 'auto' };
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
      label: 'topk 1 %',
      parameters: { ratio: 0.01, quantize: { bits: 0 } },
      collective: 'auto',
      bucketBytes: 4096,
    };
    const parameters = { ratio: 0.01, quantize: { bits: 4 } };
    const to = { ...from, label: 'topk 1 % in 4 bits', parameters };
    expect(describeSwitch(from, to)).toBe(
      'topk 1 % → topk 1 % in 4 bits (quantize {"bits":0} → {"bits":4})',
    );
    expect(
      describeSwitch(from, {
        ...from,
        method: 'a2sgd',
        label: 'a2sgd',
        parameters: {},
      }),
    ).toBe('topk 1 % → a2sgd');
    const layers = [{ match: 'layer1.*', method: 'none', parameters: {} }];
    expect(labelBeside(from, { ...to, method: 'none', label: 'none' })).toBe(
      'topk 1 %',
    );
    expect(labelBeside({ ...from, collective: 'ring' }, from)).toBe(
      'topk 1 % over ring',
    );
    expect(labelBeside({ ...to, layers }, from)).toBe(
      'topk 1 % in 4 bits [layer1.*: none]',
    );
  });
});
