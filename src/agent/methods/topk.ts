/**
 * Top-k with error feedback: the k entries of p with the largest |p| are sent. Exactly k;
 * ties go to the lower index. Selected from the whole bucket in about two passes, or from
 * each run of `bucket` elements in one. Values are sent exactly or quantised (`quantize`).
 *
 * What stays behind of exact values keeps ‖p − top_k(p)‖² ≤ (1 − k/n)·‖p‖², n the elements
 * of the bucket or of a run. That is a bound of p, not of the gradient, so it is no `errorBound`.
 *
 * Sources: SparCML (Renggli et al., SC 2019), Algorithm 1; section 8 for k of each 512. The
 * bound: "Sparsified SGD with memory" (Stich et al., NeurIPS 2018), definition 2.1 and appendix A.
 */
import { z } from 'zod';
import {
  diagnosticsMessages,
  diagnosticsParameters,
  withDiagnostics,
} from './diagnostics.ts';
import type { MethodDefinition } from './method.ts';
import {
  rampParameters,
  ratioBesideK,
  ratioParameters,
  shareLabel,
} from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import {
  bucketBesideBits,
  carriageOfValues,
  feedbackOf,
  messageOfValues,
  valuesLabel,
  valueParameters,
} from './quantized-values.ts';
import { TopKSelection, topKEntries } from './topk-selection.ts';
import { RAMP, WARM_UP } from './policy/schedule.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  k: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Entries sent of each bucket, or of each run; 0: the ratio decides'),
  bucket: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe(
      'Select within each run of this many elements; 0: within the whole bucket',
    ),
  ...valueParameters,
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
  ...diagnosticsParameters,
});

export const topk: MethodDefinition<typeof parameters> = {
  id: 'topk',
  title: 'Top-k',
  summary: 'The k entries of largest magnitude; the rest stays in a residual.',
  source: 'SparCML (Renggli et al., SC 2019), Algorithm 1',
  suits:
    'Slow links. Selecting costs time for every element, so that it seldom pays on a fast network.',
  label: (parameters) => shareLabel(parameters) + valuesLabel(parameters),
  parameters,
  idle: [
    ...ratioBesideK,
    bucketBesideBits,
    {
      parameter: 'diagnosticsEvery',
      beside: 'quantize.bits',
      when: ({ quantize }) => quantize.bits > 0,
      instead: 'quantize.bits=0',
    },
  ],
  invitation: { ratio: 0.01 },
  schedules: [RAMP, WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'sparse',
  reducible: true,
  carriage: carriageOfValues,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, { length }) => [
    ...diagnosticsMessages(parameters, length),
    messageOfValues(parameters, length, topKEntries(length, parameters)),
  ],
  create: (context) => {
    const selection = new TopKSelection(context);
    const feedback = feedbackOf(topk.id, context, selection);
    return withWarmUp(withDiagnostics(feedback, context, selection.capacity), context);
  },
};
