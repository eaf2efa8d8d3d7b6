/**
 * QSGD: every element becomes one of s levels of its run's scale and a sign, rounded up or
 * down at random so that its expectation is the element. Unbiased, so it needs no residual:
 * the noise of P ranks averages out. One can be kept all the same (`errorFeedback`).
 *
 * For a bucket of d elements with the ℓ₂ scale: E‖Q(v) − v‖² ≤ min(d/s², √d/s)·‖v‖² and
 * E‖Q(v)‖₀ ≤ s(s + √d). With the largest magnitude as the scale there are fewer zeros
 * and less noise: the bound of the error holds for it, too, as it is at most ‖v‖₂. `packed` codes take b bits
 * per element and one pass over memory; `elias` codes are shorter if small levels are frequent, and several times slower.
 *
 * The payload is laid out in `sectioned-compressor.ts` and `work/section-layout.ts`.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 3.
 */
import { z } from 'zod';
import { MAXIMUM_LEVELS } from '../kernels/quantization.ts';
import type { LevelCoding } from '../work/sections.ts';
import { estimated } from './expected-messages.ts';
import type { MethodDefinition } from './method.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SectionedCompressor, sectionsMessage } from './sectioned-compressor.ts';
import { minElements } from './policy/small-tensors.ts';
import { errorFeedback, ERROR_FEEDBACK } from './policy/error-feedback.ts';
import { WARM_UP } from './policy/schedule.ts';
import {
  levelErrorBound,
  StochasticCodec,
  stochasticBytes,
} from './stochastic-codec.ts';

const parameters = z.strictObject({
  bits: z
    .int()
    .min(2)
    .max(8)
    .default(4)
    .describe('Bits of a packed code: a sign, and levels 0 … 2^(bits−1) − 1'),
  levels: z
    .int()
    .min(0)
    .max(MAXIMUM_LEVELS)
    .default(0)
    .describe('Number of positive levels, s; 0: the most that the bits allow'),
  bucket: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Consecutive elements that share a scale; 0: 128 for 2 bits, else 512'),
  scale: z
    .enum(['max', 'l2'])
    .default('max')
    .describe('The scale of a run: its largest magnitude, or its ℓ₂ norm'),
  coding: z
    .enum(['packed', 'elias'])
    .default('packed')
    .describe(
      'Codes of equal length, or Elias codes, which are shorter for small levels',
    ),
  form: z
    .enum(['auto', 'sparse', 'dense'])
    .default('auto')
    .describe(
      'Elias codes for non-zeros and gaps, for all elements, or whichever is shorter',
    ),
  errorFeedback,
  minElements,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const qsgd: MethodDefinition<typeof parameters> = {
  id: 'qsgd',
  title: 'QSGD',
  summary: 'Every element as a sign and a randomly rounded level of its run’s scale.',
  source: 'QSGD (Alistarh et al., NeurIPS 2017), section 3',
  suits:
    'Links on which a quarter to an eighth of the bytes is enough. It is unbiased, and needs no residual.',
  label: ({ bits, levels }) => (levels > 0 ? `s=${levels}` : `${bits} bit`),
  parameters,
  idle: [
    {
      parameter: 'bits',
      beside: 'levels',
      when: ({ levels }) => levels > 0,
      instead: 'levels=0',
    },
    {
      parameter: 'form',
      beside: 'coding',
      when: ({ coding }) => coding === 'packed',
      instead: 'coding=elias',
    },
  ],
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  residualIf: ERROR_FEEDBACK,
  replicas: 'identical',
  // A residual would be compressed with the gradient.
  errorBound: (parameters, length) => {
    if (parameters.errorFeedback) return undefined;
    if (length < parameters.minElements) return 0;
    const run = Math.min(bucketOf(parameters), length);
    return levelErrorBound(levelsOf(parameters), run);
  },
  messages: (parameters, bucket) => {
    const message = sectionsMessage(parameters, bucket, (n) =>
      stochasticBytes(n, codingOf(parameters)),
    );
    return [parameters.coding === 'packed' ? message : estimated(message)];
  },
  create: (context) => {
    const codec = new StochasticCodec(qsgd.id, context, codingOf(context.parameters));
    return withWarmUp(new SectionedCompressor(qsgd.id, context, codec), context);
  },
};

function codingOf(parameters: Parameters): LevelCoding {
  const { scale, coding, form } = parameters;
  return {
    kind: 'levels',
    levels: levelsOf(parameters),
    runLength: bucketOf(parameters),
    scale,
    coding: coding === 'packed' ? 'packed' : form,
  };
}

/** s */
function levelsOf({ bits, levels }: Pick<Parameters, 'bits' | 'levels'>): number {
  return levels > 0 ? levels : 2 ** (bits - 1) - 1;
}

/** d */
function bucketOf({
  bits,
  levels,
  bucket,
}: Pick<Parameters, 'bits' | 'levels' | 'bucket'>): number {
  if (bucket > 0) return bucket;
  return levelsOf({ bits, levels }) === 1 ? 128 : 512;
}
