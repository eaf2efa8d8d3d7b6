/**
 * Parts of a vector on the wire in fewer bits: levels (`level-parts.ts`), floats of 8 bits
 * (`float-parts.ts`) or of 16 (`half-parts.ts`). Rounding to 16 bits is to nearest. Any other is
 * random and unbiased; its noise is a function of seed, rank, stream, exchange and purpose.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { allgather } from './allgather.ts';
import type { Communicator, Quantization } from './collective.ts';
import { floatCoding } from './float-parts.ts';
import { halfCoding } from './half-parts.ts';
import { levelCoding } from './level-parts.ts';
import type { PartCoding } from './part-coding.ts';
import { part, partRange } from './partition.ts';

/** Purpose of the noise of reduced parts; for contributions it is the peer's rank. */
const REDUCED_PURPOSE = 0;
const CONTRIBUTION_PURPOSE = 1;

function codingOf(quantization: Quantization): PartCoding {
  if (quantization.format === undefined) return levelCoding(quantization);
  const { format } = quantization;
  if (format === 'bf16') return halfCoding('bfloat16');
  if (format === 'fp16') return halfCoding('binary16');
  return floatCoding(format);
}

/** Bytes of a part of this many elements. */
export const quantizedBytes = (length: number, quantization: Quantization): number =>
  codingOf(quantization).bytes(length);

/** The cost of quantising and of decoding these numbers of elements, in units of γ. */
export function codingCost(
  quantization: Quantization,
  quantized: number,
  decoded: number,
): number {
  const { dequantizeCost, quantizeCost } = codingOf(quantization);
  return quantized * quantizeCost + decoded * dequantizeCost;
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
  codingOf(quantization).dequantize(communicator, data, out, add, peer);
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
  const { operation, valueBytes } = communicator;
  if (valueBytes !== 4 || operation !== 'sum') {
    throw new Error(`internal: a quantised ${operation} of ${valueBytes}-byte values`);
  }
  const noise = communicator.noise(purpose);
  codingOf(quantization).quantize(communicator, x, noise, out);
}
