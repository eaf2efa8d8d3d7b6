/**
 * TernGrad: every element becomes −1, 0 or 1 times the scale of its tensor, chosen at
 * random with the element as its expectation: two bits each. Clipping at c standard
 * deviations keeps a few large elements from making all others 0, but biases those few.
 *
 * Without clipping the noise is that of QSGD with one level: E‖Q(v) − v‖² ≤ √n·‖v‖² for n
 * elements (`levelErrorBound`).
 *
 * A section is one scale and packed codes of 2 bits; see `sectioned-compressor.ts` and
 * `work/section-layout.ts`. Each rank has its own scale.
 *
 * Source: TernGrad (Wen et al., NeurIPS 2017), sections 3.1 and 3.4.
 */
import { z } from 'zod';
import type { LevelCoding } from '../work/sections.ts';
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
  clip: z
    .number()
    .min(0)
    .max(1000)
    .default(2.5)
    .describe('Clip at this many standard deviations of the tensor; 0: do not clip'),
  errorFeedback,
  minElements,
  ...warmUpParameters,
});

/** One run for the whole tensor. */
const WHOLE_TENSOR = 2 ** 30;

export const terngrad: MethodDefinition<typeof parameters> = {
  id: 'terngrad',
  title: 'TernGrad',
  summary: 'Every element as −1, 0 or 1, randomly rounded, times its tensor’s scale.',
  source: 'TernGrad (Wen et al., NeurIPS 2017), section 3',
  suits:
    'Links on which about a sixteenth of the bytes is enough, if training bears the noise.',
  parameters,
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  residualIf: ERROR_FEEDBACK,
  replicas: 'identical',
  // One level of the largest magnitude. A residual would be compressed with the gradient, and what is clipped is
  // biased.
  errorBound: ({ clip, errorFeedback, minElements }, length) => {
    if (clip > 0 || errorFeedback) return undefined;
    return length < minElements ? 0 : levelErrorBound(1, length);
  },
  messages: (parameters, bucket) => [
    sectionsMessage(parameters, bucket, (n) =>
      stochasticBytes(n, codingOf(parameters)),
    ),
  ],
  create: (context) => {
    const codec = new StochasticCodec(
      terngrad.id,
      context,
      codingOf(context.parameters),
    );
    return withWarmUp(new SectionedCompressor(terngrad.id, context, codec), context);
  },
};

function codingOf({ clip }: z.infer<typeof parameters>): LevelCoding {
  return {
    kind: 'levels',
    levels: 1,
    runLength: WHOLE_TENSOR,
    scale: { clip },
    coding: 'packed',
  };
}
