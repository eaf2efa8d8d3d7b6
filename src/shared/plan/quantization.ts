/**
 * Quantisation of what a collective sends: `quantizeSums` in a plan, `--quantize` of
 * `gradwire allreduce`. A sign and 2^(bits−1) − 1 levels, randomly rounded in runs of values
 * that share a scale.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 3; SparCML (Renggli et al., SC 2019),
 * section 6: 2, 4 or 8 bits in runs of 1024.
 */
import { z } from 'zod';

export const quantizationSchema = z.strictObject({
  bits: z.literal([2, 4, 8]).default(4).describe('Bits per value on the wire'),
  bucket: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(1024)
    .describe('Consecutive values that share a scale'),
  scale: z
    .enum(['max', 'l2'])
    .default('max')
    .describe('The scale of a run of values: its largest magnitude, or its ℓ₂ norm'),
});

export type Quantization = z.infer<typeof quantizationSchema>;
