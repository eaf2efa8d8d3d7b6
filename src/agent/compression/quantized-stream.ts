/**
 * A stream of entries whose values are quantised, as it travels; k entries, values in runs
 * of d:
 *
 *     u32       k
 *     indices   k × u32, ascending
 *     scales    ⌈k/d⌉ × f32, finite, ≥ 0
 *     codes     k packed codes of b bits, padded to whole words of 4 bytes
 *
 * with codes as of `kernels/quantization.ts`.
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 6 and 8.
 */
import type { Arena, Region, Vector } from '../memory/arena.ts';
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
} from '../kernels/quantization.ts';
import { payloadInvalid, requireAscending } from './payload-check.ts';
import { requireScales } from './stochastic-codec.ts';

export interface QuantizedParts {
  readonly indices: Vector;
  readonly scales: Vector;
  readonly codes: Region;
}

export function quantizedBytes(count: number, { levels, bucket }: Quantizer): number {
  const scales = 4 * runsOf(count, bucket);
  return 4 + 4 * count + scales + packedBytes(count, codeBits(levels));
}

/** Where the parts of a payload of this many entries lie. */
export function quantizedParts(
  offset: number,
  count: number,
  { levels, bucket }: Quantizer,
): QuantizedParts {
  const runs = runsOf(count, bucket);
  const scales = { offset: offset + 4 + 4 * count, length: runs };
  return {
    indices: { offset: offset + 4, length: count },
    scales,
    codes: {
      offset: scales.offset + 4 * runs,
      bytes: packedBytes(count, codeBits(levels)),
    },
  };
}

/**
 * Entries of a payload that comes as bytes alone, of a vector of `length` elements and at
 * most `most` entries.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function checkQuantized(
  method: string,
  arena: Arena,
  data: Region,
  quantizer: Quantizer,
  length: number,
  most: number,
): number {
  const count = data.bytes < 4 ? 0 : arena.u32(data.offset, 1)[0]!;
  if (count > most) {
    throw payloadInvalid(method, `${count} entries, of at most ${most}`);
  }
  const expected = quantizedBytes(count, quantizer);
  if (data.bytes !== expected) {
    throw payloadInvalid(method, `${data.bytes} bytes for ${expected}`);
  }
  const { indices, scales } = quantizedParts(data.offset, count, quantizer);
  requireAscending(method, arena.u32(indices.offset, count), length);
  requireScales(method, arena.f32(scales));
  return count;
}
