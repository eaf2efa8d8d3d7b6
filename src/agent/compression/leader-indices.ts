/**
 * The indices that a leader has chosen, as they travel to the other ranks: codes of a size
 * that all know beforehand, taken over into the memory of a list.
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

/** To the broadcast: where the leader's indices lie, or go. */
export function indexPayload({ offset, count }: IndexList, length: number): Payload {
  return { kind: 'quantized', length, data: { offset, bytes: indexBytes(count) } };
}

/**
 * What the broadcast gave, checked and copied to `list`.
 * @param sent by whom, of a vector of how many elements, under which method
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
      throw payloadInvalid(sent.method, `${data.bytes} bytes of ${count} indices`);
    }
    requireAscending(sent.method, arena.u32(data.offset, count), sent.length);
  } catch (error) {
    throw sentBy(sent.leader, error);
  }
  const indices = arena.u32(data.offset, count);
  if (data.offset !== offset) arena.u32(offset, count).set(indices);
}
