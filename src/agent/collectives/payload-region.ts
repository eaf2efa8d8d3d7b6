/** The bytes of a payload that are sent: only its own, even if its memory is larger. */
import type { Payload } from '../memory/payload.ts';
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type { Communicator } from './collective.ts';

export function payloadRegion(payload: Payload, valueBytes: ValueBytes = 4): Region {
  const { offset, bytes } = payload.data;
  const used =
    payload.kind === 'sparse' ? sparseBytes(payload.count, valueBytes) : bytes;
  if (used > bytes) {
    throw new Error(`internal: ${bytes} bytes hold no payload of ${used}`);
  }
  return { offset, bytes: used };
}

/** The elements that an elementwise sum reads: those of a dense payload or of scalars. */
export function payloadVector(payload: Payload, valueBytes: ValueBytes = 4): Vector {
  if (payload.kind !== 'dense' && payload.kind !== 'scalars') {
    throw new Error(`internal: a ${payload.kind} payload has no elementwise sum`);
  }
  const { offset, bytes } = payload.data;
  // Allocations are rounded up: a dense payload says how long it is.
  const length = payload.kind === 'dense' ? payload.length : bytes / valueBytes;
  if (!Number.isInteger(length) || valueBytes * length > bytes) {
    throw new Error(`internal: ${bytes} bytes are no ${length} elements`);
  }
  return { offset, length };
}

/** Whether a collective that can is to divide by the number of ranks: sums of f32 only. */
export const wantsAverage = (
  { operation, valueBytes }: Pick<Communicator, 'operation' | 'valueBytes'>,
  payload: Payload,
): true | undefined =>
  payload.kind === 'dense' && operation === 'sum' && valueBytes === 4
    ? payload.averages
    : undefined;

export const vectorRegion = (
  { offset, length }: Vector,
  valueBytes: ValueBytes = 4,
): Region => ({ offset, bytes: valueBytes * length });
