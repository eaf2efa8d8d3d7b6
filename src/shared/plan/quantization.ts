/**
 * Quantisation of what a collective sends: `quantizeSums` in a plan, `--quantize` of
 * `gradwire allreduce`. Either levels, a sign and 2^(bits−1) − 1 of them, randomly rounded in
 * runs of values that share a scale; or floats, which name their format: of 16 bits, rounded to
 * nearest, or of 8 bits in blocks of 32 that share a power of two (MXFP8), randomly rounded.
 *
 * Sources: QSGD (Alistarh et al., NeurIPS 2017), section 3; SparCML (Renggli et al., SC 2019),
 * section 6: 2, 4 or 8 bits in runs of 1024; OCP Microscaling Formats (MX) Specification,
 * version 1.0 (2023); IEEE 754-2019, binary16; Kalamkar et al., "A Study of BFLOAT16 for Deep
 * Learning Training" (2019).
 */
import { z } from 'zod';

/** A key of the other kind, which no value fits. */
const absent = z
  .enum([], { error: 'levels have bits, bucket and scale, floats only a format' })
  .exactOptional();

const levelsSchema = z.strictObject({
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
  format: absent,
});

const floatsSchema = z.strictObject({
  format: z
    .enum(['bf16', 'fp16', 'e4m3', 'e5m2'])
    .describe(
      'Floats in place of bits, bucket and scale: bf16 and fp16 have 16 bits, e4m3 and e5m2 have 8 and a scale for each 32; fp16 and e4m3 are more precise, bf16 and e5m2 have the greater range',
    ),
  bits: absent,
  bucket: absent,
  scale: absent,
});

const FORMAT = {
  error: ({ code }: { readonly code?: string }) =>
    code === 'invalid_union' ? 'it must be bf16, fp16, e4m3 or e5m2' : undefined,
};

export const quantizationSchema = z.discriminatedUnion(
  'format',
  [levelsSchema, floatsSchema],
  FORMAT,
);

/** Drops keys that only a newer version knows. */
export const readableQuantizationSchema = z.discriminatedUnion(
  'format',
  [levelsSchema.strip(), floatsSchema.strip()],
  FORMAT,
);

export type Quantization = z.infer<typeof quantizationSchema>;

/** Whether a key is of this kind of quantisation. */
export const isKeyOf = ({ format }: Quantization, key: string): boolean =>
  (key === 'format') === (format !== undefined);

/** `4 bits`, `bf16`, `e4m3` */
export const quantizationLabel = ({ bits, format }: Quantization): string =>
  format ?? `${bits} bits`;
