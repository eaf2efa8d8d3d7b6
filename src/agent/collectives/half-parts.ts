/**
 * Parts of a vector on the wire as values of 16 bits, bfloat16 or IEEE 754 binary16, rounded to
 * nearest, ties to even (`kernels/half-precision.ts`). They are added in f32, so a sum of any
 * number of ranks is rounded only where it is sent.
 *
 * Bytes of a part of n elements: 2n.
 *
 * What is too large becomes the largest finite value. A value that is not finite is sent as NaN,
 * which whoever decodes it refuses.
 *
 * Sources: IEEE 754-2019, binary16; bfloat16: Intel, "BFLOAT16 – Hardware Numerics Definition"
 * (2018).
 */
import { failure } from '../../shared/errors/errors.ts';
import type { HalfType } from '../memory/value-type.ts';
import { addInChunks } from './added-chunks.ts';
import { ONLY_FINITE, type PartCoding } from './part-coding.ts';

/** A NaN of either type: all bits but the sign. */
const NAN_CODE = 0x7fff;

/**
 * The costs of a pass that finds whether all are finite and one that converts: measured on one
 * core, of 4 and 25 million elements.
 */
const COSTS: Readonly<
  Record<HalfType, Pick<PartCoding, 'quantizeCost' | 'dequantizeCost'>>
> = {
  bfloat16: { quantizeCost: 1.5, dequantizeCost: 2 },
  binary16: { quantizeCost: 2, dequantizeCost: 3 },
};

export const halfCoding = (type: HalfType): PartCoding => ({
  ...COSTS[type],
  bytes: (length) => 2 * length,
  quantize: (communicator, x, _noise, out) => {
    const { arena, kernels } = communicator;
    const index = kernels.firstNonFinite(x);
    if (index < 0) {
      kernels.halfPrecision.narrow(type, x, 1, out);
      return;
    }
    // One code is enough to have the part refused, and only finite values can be narrowed.
    arena.u8(out.offset, out.bytes).fill(0);
    const code = arena.u8(out.offset + 2 * index, 2);
    code.set([NAN_CODE & 0xff, NAN_CODE >>> 8]);
  },
  dequantize: (communicator, data, out, add, peer) => {
    const { halfPrecision } = communicator.kernels;
    const index = halfPrecision.firstNonFinite(type, data);
    if (index >= 0) {
      const message = `rank ${peer} sent a value that is not finite, element ${index}`;
      throw failure('PAYLOAD_INVALID', message, { rank: peer, next: ONLY_FINITE });
    }
    if (!add) {
      halfPrecision.widen(type, data, out);
      return;
    }
    addInChunks(communicator, out, (start, values) => {
      const bytes = 2 * values.length;
      halfPrecision.widen(type, { offset: data.offset + 2 * start, bytes }, values);
    });
  },
});
