/**
 * Checks for payloads that arrive as bytes, before they are decoded. No check reads
 * outside the bytes, whatever they contain.
 */
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { Arena, Region } from '../memory/arena.ts';
import type { Payload } from '../memory/payload.ts';

export function payloadInvalid(method: string, what: string): GradwireError {
  return failure('PAYLOAD_INVALID', `this is not a valid ${method} payload: ${what}`, {
    next: 'Decode with the method, parameters and length that it was encoded with.',
  });
}

/** A decoding error, with the rank that sent the payload. */
export function sentBy(rank: number, error: unknown): unknown {
  if (!(error instanceof GradwireError) || error.code !== 'PAYLOAD_INVALID')
    return error;
  const data = { ...error.toData(), rank, place: `payload of rank ${rank}` };
  return new GradwireError(
    {
      ...data,
      next: 'Check that all ranks run the same version.',
    },
    { cause: error },
  );
}

/** @throws GradwireError `PAYLOAD_INVALID` unless `data` has exactly this many bytes */
export function requireBytes(method: string, data: Region, bytes: number): void {
  if (data.bytes === bytes) return;
  throw payloadInvalid(method, `it has ${data.bytes} bytes instead of ${bytes}`);
}

/**
 * A sparse payload: pairs with ascending indices below `length`.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function parseSparse(
  method: string,
  arena: Arena,
  data: Region,
  length: number,
): Payload & { readonly kind: 'sparse' } {
  if (data.bytes % 8 !== 0) {
    throw payloadInvalid(method, `${data.bytes} bytes is not a multiple of 8`);
  }
  const count = data.bytes / 8;
  requireAscending(method, arena.u32(data.offset, count), length);
  return { kind: 'sparse', length, count, data };
}

/** @throws GradwireError `PAYLOAD_INVALID` unless indices ascend and are below `length` */
export function requireAscending(
  method: string,
  indices: Uint32Array,
  length: number,
): void {
  let least = 0;
  for (const index of indices) {
    if (index < least) {
      throw payloadInvalid(
        method,
        `index ${index} is not greater than the one before it`,
      );
    }
    least = index + 1;
  }
  if (least > length) {
    throw payloadInvalid(
      method,
      `index ${least - 1} is out of range for ${length} elements`,
    );
  }
}

/** @throws GradwireError `PAYLOAD_INVALID` unless all are finite and none is negative */
export function requireScales(method: string, scales: Float32Array): void {
  for (const scale of scales) {
    if (!(scale >= 0 && scale < Infinity)) {
      throw payloadInvalid(method, `a scale is ${scale}, not a finite number ≥ 0`);
    }
  }
}
