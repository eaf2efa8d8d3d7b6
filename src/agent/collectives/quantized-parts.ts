/**
 * Parts of a vector on the wire as b-bit codes: ⌈n/d⌉ scales, then n codes packed to whole
 * words of 4 bytes (`kernels/quantization.ts`). Rounding is random and unbiased; its noise
 * is a function of seed, rank, stream, exchange and purpose.
 *
 * Bytes of a part of n elements, with d values per scale: 4·⌈n/d⌉ + 4·⌈n·b/32⌉.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 3; SparCML (Renggli et al., SC
 * 2019), section 6.
 */
import { failure } from '../../shared/errors/errors.ts';
import { vectorOf, type Region, type Vector } from '../memory/arena.ts';
import { codeBits, packedBytes, runsOf } from '../kernels/quantization.ts';
import { allgather } from './allgather.ts';
import type { Communicator, Quantization } from './collective.ts';
import { part, partRange } from './partition.ts';

/** The cost of quantising and decoding an element, in units of γ. */
export const QUANTIZE_COST = 9;
export const DEQUANTIZE_COST = 4;

/** Purpose of the noise of reduced parts; for contributions it is the peer's rank. */
const REDUCED_PURPOSE = 0;
const CONTRIBUTION_PURPOSE = 1;

/** s, the positive levels of a sign and b − 1 bits. */
const levelsOf = ({ bits }: Quantization): number => 2 ** (bits - 1) - 1;

/** Bytes of a part of this many elements. */
export function quantizedBytes(length: number, quantization: Quantization): number {
  const codes = packedBytes(length, codeBits(levelsOf(quantization)));
  return 4 * runsOf(length, quantization.bucket) + codes;
}

/** One rank's contribution to a part that `owner` sums, as codes at `out`. */
export function quantizeContribution(
  communicator: Communicator,
  x: Vector,
  quantization: Quantization,
  owner: number,
  out: Region,
): void {
  quantize(communicator, x, quantization, CONTRIBUTION_PURPOSE + owner, out);
}

/**
 * out ← the values of the codes that `peer` sent, or out + these values.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function dequantizePart(
  communicator: Communicator,
  data: Region,
  quantization: Quantization,
  out: Vector,
  add: boolean,
  peer: number,
): void {
  const { arena, kernels } = communicator;
  const { scales, codes } = sections(data, out.length, quantization);
  for (const scale of arena.f32(scales)) {
    if (scale >= 0 && scale < Infinity) continue;
    throw failure('PAYLOAD_INVALID', `rank ${peer} sent a scale of ${scale}`, {
      rank: peer,
      next: 'Only finite values can be quantised. Without quantisation, the sum would show the NaN or infinity.',
    });
  }
  const quantizer = { levels: levelsOf(quantization), runLength: quantization.bucket };
  kernels.quantization.dequantize(out, quantizer, scales, codes, add);
}

/**
 * The second phase of a quantised allreduce: every rank sends the part of the vector that
 * it has summed to every rank, as codes. All ranks, the owner too, decode the same bytes:
 * they get the same bits.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export async function gatherQuantizedParts(
  communicator: Communicator,
  vector: Vector,
  quantization: Quantization,
): Promise<void> {
  const { rank, size } = communicator;
  const bytesOf = Array.from({ length: size }, (_, index) =>
    quantizedBytes(partRange(vector.length, size, index).length, quantization),
  );
  const total = bytesOf.reduce((sum, bytes) => sum + bytes, 0);
  const into = communicator.scratch('quantized parts', total);
  let { offset } = into;
  const blocks = bytesOf.map((bytes) => {
    const block = { offset, bytes };
    offset += bytes;
    return block;
  });
  communicator.reduce(() => {
    const own = part(vector, size, rank);
    quantize(communicator, own, quantization, REDUCED_PURPOSE, blocks[rank]!);
  });
  await allgather.run(communicator, into, bytesOf);
  communicator.reduce(() => {
    for (const [index, block] of blocks.entries()) {
      const out = part(vector, size, index);
      dequantizePart(communicator, block, quantization, out, false, index);
    }
  });
}

function quantize(
  communicator: Communicator,
  x: Vector,
  quantization: Quantization,
  purpose: number,
  out: Region,
): void {
  const { kernels, operation, valueBytes } = communicator;
  if (valueBytes !== 4 || operation !== 'sum') {
    throw new Error(`internal: a quantised ${operation} of ${valueBytes}-byte values`);
  }
  const { bucket, scale } = quantization;
  const { scales, codes } = sections(out, x.length, quantization);
  kernels.quantization.quantize(
    x,
    { levels: levelsOf(quantization), runLength: bucket },
    scale,
    communicator.noise(purpose),
    scales,
    codes,
  );
}

function sections(
  { offset, bytes }: Region,
  length: number,
  { bucket }: Quantization,
): { readonly scales: Vector; readonly codes: Region } {
  const scales = vectorOf({ offset, bytes }, runsOf(length, bucket));
  const used = 4 * scales.length;
  return { scales, codes: { offset: offset + used, bytes: bytes - used } };
}
