/** The two kinds of quantisation of sums: what is read, and what is said of a mixture. */
import { describe, expect, it, test } from 'vitest';
import { exchangePlanSchema } from '../../../src/shared/plan/plan-schemas.ts';
import {
  quantizationLabel,
  quantizationSchema,
  readableQuantizationSchema,
} from '../../../src/shared/plan/quantization.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const LEVELS = { bits: 4, bucket: 1024, scale: 'max' } as const;

describe('the quantisation of sums', () => {
  it.each([
    [{}, LEVELS],
    [{ bits: 8 }, { ...LEVELS, bits: 8 }],
    [
      { bucket: 64, scale: 'l2' },
      { bits: 4, bucket: 64, scale: 'l2' },
    ],
    [{ format: 'e4m3' }, { format: 'e4m3' }],
    [{ format: 'e5m2' }, { format: 'e5m2' }],
    [{ format: 'bf16' }, { format: 'bf16' }],
    [{ format: 'fp16' }, { format: 'fp16' }],
  ])('reads %j as %j', (written, value) => {
    expect(quantizationSchema.parse(written)).toStrictEqual(value);
    expect(readableQuantizationSchema.parse(value)).toStrictEqual(value);
  });

  it('drops what only a newer version knows, in plans and messages', () => {
    const plan = {
      method: 'none',
      parameters: {},
      collective: 'scatter-reduce-allgather',
      bucketBytes: 4096,
    };
    const floats = [{ format: 'e4m3' }, { format: 'fp16' }] as const;
    for (const quantizeSums of [LEVELS, ...floats]) {
      const read = exchangePlanSchema.parse({
        ...plan,
        quantizeSums: { ...quantizeSums, later: 1 },
      });
      expect(read).toStrictEqual({ ...plan, quantizeSums });
    }
  });

  it('has a label', () => {
    expect(quantizationLabel(LEVELS)).toBe('4 bits');
    expect(quantizationLabel({ format: 'e5m2' })).toBe('e5m2');
    expect(quantizationLabel({ format: 'bf16' })).toBe('bf16');
  });
});

const spec = (quantizeSums: unknown): unknown => ({
  workload: { model: 'cnn', dataset: 'mnist' },
  exchange: { method: 'none', quantizeSums },
});

test.each([
  [
    { format: 'e4m3', bits: 4 },
    'SPEC_INVALID',
    '"exchange.quantizeSums.bits" is 4: levels have bits, bucket and scale, floats only a format',
    undefined,
  ],
  [
    { bucket: 64, format: 'e5m2' },
    'SPEC_INVALID',
    '"exchange.quantizeSums.bucket" is 64: levels have bits, bucket and scale, floats only a format',
    undefined,
  ],
  [
    { format: 'e3m4' },
    'SPEC_INVALID',
    '"exchange.quantizeSums.format" is "e3m4": it must be bf16, fp16, e4m3 or e5m2',
    undefined,
  ],
  [
    { fromat: 'e4m3' },
    'SPEC_UNKNOWN_KEY',
    'unknown key "exchange.quantizeSums.fromat"',
    'Did you mean "exchange.quantizeSums.format"?',
  ],
  [
    { format: 'e4m3', later: 1 },
    'SPEC_UNKNOWN_KEY',
    'unknown key "exchange.quantizeSums.later"',
    'Valid keys here: bits, bucket, scale, format.',
  ],
  [
    7,
    'SPEC_INVALID',
    '"exchange.quantizeSums" is 7: expected a section with keys',
    undefined,
  ],
])('refuses %j in a spec: %s', (quantizeSums, code, message, next) => {
  expect(() => parseExperimentSpec(spec(quantizeSums))).toThrow(
    expect.objectContaining({ code, message, ...(next === undefined ? {} : { next }) }),
  );
});
