/** The bytes of a payload that travel: no more than it has, whatever its memory holds. */
import type { Payload } from '../compression/method.ts';
import type { Region, Vector } from '../kernels/arena.ts';
import { sparseBytes } from '../kernels/kernels.ts';

export function payloadRegion(payload: Payload): Region {
  const { offset, bytes } = payload.data;
  const used = payload.kind === 'sparse' ? sparseBytes(payload.count) : bytes;
  if (used > bytes) {
    throw new Error(`internal: ${bytes} bytes hold no payload of ${used}`);
  }
  return { offset, bytes: used };
}

/** What an elementwise sum works on: the f32 elements of a dense payload or of scalars. */
export function payloadVector(payload: Payload): Vector {
  if (payload.kind !== 'dense' && payload.kind !== 'scalars') {
    throw new Error(`internal: a ${payload.kind} payload has no elementwise sum`);
  }
  const { offset, bytes } = payload.data;
  // Allocations are rounded up: a dense payload says how long it is.
  const length = payload.kind === 'dense' ? payload.length : bytes / 4;
  if (!Number.isInteger(length) || 4 * length > bytes) {
    throw new Error(`internal: ${bytes} bytes are no ${length} elements`);
  }
  return { offset, length };
}

export const vectorRegion = ({ offset, length }: Vector): Region => ({
  offset,
  bytes: 4 * length,
});
