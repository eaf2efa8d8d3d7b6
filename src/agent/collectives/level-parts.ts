/**
 * Parts of a vector on the wire as b-bit codes: ⌈n/d⌉ scales, then n codes packed to whole
 * words of 4 bytes (`kernels/quantization.ts`). Rounding is random and unbiased.
 *
 * Bytes of a part of n elements, with d values per scale: 4·⌈n/d⌉ + 4·⌈n·b/32⌉.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 3; SparCML (Renggli et al., SC
 * 2019), section 6.
 */
import { failure } from '../../shared/errors/errors.ts';
import { vectorOf, type Region, type Vector } from '../memory/arena.ts';
import { codeBits, packedBytes, runsOf } from '../kernels/quantization.ts';
import type { LevelQuantization } from './collective.ts';
import { ONLY_FINITE, type PartCoding } from './part-coding.ts';

export function levelCoding({ bits, bucket, scale }: LevelQuantization): PartCoding {
  /** s, the positive levels of a sign and b − 1 bits. */
  const levels = 2 ** (bits - 1) - 1;
  const quantizer = { levels, runLength: bucket };
  return {
    quantizeCost: 9,
    dequantizeCost: 4,
    bytes: (length) =>
      4 * runsOf(length, bucket) + packedBytes(length, codeBits(levels)),
    quantize: ({ kernels }, x, noise, out) => {
      const { scales, codes } = sections(out, x.length, bucket);
      kernels.quantization.quantize(x, quantizer, scale, noise, scales, codes);
    },
    dequantize: ({ arena, kernels }, data, out, add, peer) => {
      const { scales, codes } = sections(data, out.length, bucket);
      for (const one of arena.f32(scales)) {
        if (one >= 0 && one < Infinity) continue;
        throw failure('PAYLOAD_INVALID', `rank ${peer} sent a scale of ${one}`, {
          rank: peer,
          next: ONLY_FINITE,
        });
      }
      kernels.quantization.dequantize(out, quantizer, scales, codes, add);
    },
  };
}

function sections(
  { offset, bytes }: Region,
  length: number,
  bucket: number,
): { readonly scales: Vector; readonly codes: Region } {
  const scales = vectorOf({ offset, bytes }, runsOf(length, bucket));
  const used = 4 * scales.length;
  return { scales, codes: { offset: offset + used, bytes: bytes - used } };
}
