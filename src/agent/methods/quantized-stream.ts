/** Reads a payload of `work/quantized-entries.ts` that arrives as bytes. */
import type { Quantizer } from '../kernels/quantization.ts';
import type { Arena, Region } from '../memory/arena.ts';
import { quantizedBytes, quantizedFields } from '../work/quantized-entries.ts';
import { payloadInvalid, requireAscending, requireScales } from './payload-check.ts';

/**
 * The entries of a payload for a vector of `length` elements; at most `most`.
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
    throw payloadInvalid(
      method,
      `it has ${count} entries; at most ${most} are possible`,
    );
  }
  const expected = quantizedBytes(count, quantizer);
  if (data.bytes !== expected) {
    throw payloadInvalid(method, `it has ${data.bytes} bytes instead of ${expected}`);
  }
  const { indices, scales } = quantizedFields(data.offset, count, quantizer);
  requireAscending(method, arena.u32(indices.offset, count), length);
  requireScales(method, arena.f32(scales));
  return count;
}
