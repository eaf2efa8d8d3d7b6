/**
 * The indices that a leader has chosen, as sent to the other ranks: codes of a size that
 * all know beforehand, copied into a list.
 */
import type { Arena } from '../memory/arena.ts';
import { indexBytes, type IndexList } from '../kernels/sparsification.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { ExpectedMessage } from './method.ts';
import { payloadInvalid, requireAscending, sentBy } from './payload-check.ts';

/** `count` indices of a vector of `length` elements. */
export const indexMessage = (count: number, length: number): ExpectedMessage => ({
  operation: 'broadcast',
  kind: 'quantized',
  length,
  bytes: indexBytes(count),
});

/** The broadcast's buffer: the leader's indices, or the place to receive them. */
export function indexPayload({ offset, count }: IndexList, length: number): Payload {
  return { kind: 'quantized', length, data: { offset, bytes: indexBytes(count) } };
}

/**
 * The broadcast's result, checked and copied to `list`.
 * @param sent the sending rank, the vector's length and the method
 * @throws GradwireError `PAYLOAD_INVALID`, naming the leader
 */
export function adoptIndices(
  arena: Arena,
  { offset, count }: IndexList,
  combined: Combined,
  sent: { readonly method: string; readonly leader: number; readonly length: number },
): void {
  const [payload] = combined.form === 'gathered' ? combined.payloads : [];
  if (payload === undefined) throw new Error('internal: a broadcast gives one payload');
  const { data } = payload;
  try {
    if (data.bytes !== indexBytes(count)) {
      throw payloadInvalid(
        sent.method,
        `it has ${data.bytes} bytes for ${count} indices`,
      );
    }
    requireAscending(sent.method, arena.u32(data.offset, count), sent.length);
  } catch (error) {
    throw sentBy(sent.leader, error);
  }
  const indices = arena.u32(data.offset, count);
  if (data.offset !== offset) arena.u32(offset, count).set(indices);
}
