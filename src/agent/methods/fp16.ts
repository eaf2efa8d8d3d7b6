/**
 * Half precision, IEEE 754 binary16: half of the bytes, with 11 bits of precision, for magnitudes
 * from 6 · 10⁻⁸ to 65,504. Smaller ones are lost, so losses are scaled up in training with it.
 *
 * Source: Micikevicius et al., "Mixed Precision Training" (ICLR 2018), and PyTorch's
 * `fp16_compress_hook`, which divides by the number of ranks before it rounds, too.
 */
import { halfPrecision } from './half-exchange.ts';

export const fp16 = halfPrecision('binary16', {
  id: 'fp16',
  title: 'Half precision',
  summary: 'Every element in 16 bits, as IEEE 754 half precision.',
  source: 'Mixed Precision Training (Micikevicius et al., ICLR 2018)',
  suits:
    'Links on which half the bytes is enough, and gradients of a moderate range: three more bits than bf16 keeps, fewer magnitudes.',
});
