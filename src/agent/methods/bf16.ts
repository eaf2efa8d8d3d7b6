/**
 * bfloat16: half of the bytes, with the range of f32 and 8 bits of precision.
 *
 * Source: the usual 16-bit gradient of mixed-precision training; Kalamkar et al., "A Study of
 * BFLOAT16 for Deep Learning Training" (2019), and PyTorch's `bf16_compress_hook`, which
 * divides by the number of ranks before it rounds, too.
 */
import { halfPrecision } from './half-exchange.ts';

export const bf16 = halfPrecision('bfloat16', {
  id: 'bf16',
  title: 'bfloat16',
  summary: 'Every element in 16 bits, with the range of 32-bit floats.',
  source: 'Kalamkar et al. (2019), arXiv:1905.12322',
  suits:
    'Links on which half the bytes is enough: one pass over the vector, any gradient within the range of f32.',
});
