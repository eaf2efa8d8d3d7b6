import { describe, expect, it } from 'vitest';
import {
  changeToMethod,
  planAsChange,
} from '../../../src/renderer/state/run-change.ts';
import type { MethodEntry } from '../../../src/shared/catalogue.ts';

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
    expect(planAsChange(plan)).toEqual({
      method: 'topk',
      ratio: 0.02,
      collective: 'sparse-allgather',
      bucketBytes: 4096,
      layers: [],
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
});
