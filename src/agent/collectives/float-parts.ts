/**
 * Parts of a vector on the wire as floats of 8 bits in blocks of 32 with a shared power of two
 * (MXFP8, `kernels/microscaling.ts`): ⌈n/32⌉ scales of a byte, then n codes of a byte, either
 * filled with 0 to whole words of 4 bytes. Rounding is random, and unbiased to 2⁻¹⁶ of a gap.
 *
 * Bytes of a part of n elements: 4·⌈⌈n/32⌉/4⌉ + 4·⌈n/4⌉.
 *
 * A block that is not finite is sent with the scale NaN, which whoever decodes it refuses.
 *
 * Source: OCP Microscaling Formats (MX) Specification, version 1.0 (2023).
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import {
  blocksOf,
  largestScale,
  NAN_SCALE,
  SCALE_BLOCK,
  type Float8Type,
} from '../kernels/microscaling.ts';
import {
  fillLastWord,
  microscaledBytes,
  microscaledParts,
} from '../kernels/microscaled-layout.ts';
import type { Region } from '../memory/arena.ts';
import { addInChunks } from './added-chunks.ts';
import type { Communicator } from './collective.ts';
import { ONLY_FINITE, type PartCoding } from './part-coding.ts';

export const floatCoding = (type: Float8Type): PartCoding => ({
  // Measured on one core, of 4 and 25 million elements.
  quantizeCost: 12,
  dequantizeCost: 2,
  bytes: microscaledBytes,
  quantize: ({ arena, kernels }, x, noise, out) => {
    const { scales, codes } = microscaledParts(out.offset, x.length);
    for (const part of [scales, codes]) fillLastWord(arena, part);
    kernels.microscaling.encode(type, x, scales, codes, noise);
  },
  dequantize: (communicator, data, out, add, peer) => {
    const { scales, codes } = microscaledParts(data.offset, out.length);
    requireFinite(communicator, type, scales, codes, peer);
    const { microscaling } = communicator.kernels;
    if (!add) {
      microscaling.decode(type, scales, codes, out);
      return;
    }
    addInChunks(communicator, out, (start, values) => {
      const bytes = blocksOf(values.length);
      microscaling.decode(
        type,
        { offset: scales.offset + start / SCALE_BLOCK, bytes },
        { offset: codes.offset + start, bytes: values.length },
        values,
      );
    });
  },
});

/** @throws GradwireError `PAYLOAD_INVALID` */
function requireFinite(
  { arena, kernels }: Communicator,
  type: Float8Type,
  scales: Region,
  codes: Region,
  peer: number,
): void {
  const most = largestScale(type);
  const scale = arena.u8(scales.offset, scales.bytes).find((one) => one > most);
  if (scale === NAN_SCALE) throw invalid(peer, 'a scale of NaN');
  if (scale !== undefined) {
    throw invalid(peer, `a scale of ${scale}; at most ${most} is possible`);
  }
  const index = kernels.microscaling.firstNonFinite(type, codes);
  if (index >= 0) throw invalid(peer, `a value that is not finite, element ${index}`);
}

const invalid = (peer: number, what: string): GradwireError =>
  failure('PAYLOAD_INVALID', `rank ${peer} sent ${what}`, {
    rank: peer,
    next: ONLY_FINITE,
  });
