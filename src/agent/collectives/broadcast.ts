/**
 * Broadcast of the root's payload down a binomial tree.
 *
 * Cost: ⌈log₂P⌉·(α + bytes·β). The other ranks need not know the length; the payload must
 * fit the memory of the one that they pass, in which it is stored.
 */
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type { Communicator } from './collective.ts';
import { payloadRegion } from './payload-region.ts';

export const broadcast = {
  code: 1002,
  /** The root's payload on every rank, as the only one of a gathered result. */
  run: async (
    communicator: Communicator,
    payload: Payload,
    root: number,
  ): Promise<Combined> => {
    const { rank, size, valueBytes } = communicator;
    // Ranks counted from the root: place 0 is the root's.
    const place = (rank - root + size) % size;
    const rankAt = (other: number): number => (other + root) % size;
    let region = payloadRegion(payload, valueBytes);
    let distance = 1;
    while (distance < size && (place & distance) === 0) distance *= 2;
    if (place !== 0) {
      region = await communicator.receiveSized(
        rankAt(place - distance),
        payload.data.bytes,
        () => payload.data,
      );
    }
    // Farthest first: the largest subtree takes longest.
    const sends: Promise<void>[] = [];
    for (distance /= 2; distance >= 1; distance /= 2) {
      const child = place + distance;
      if (child < size) sends.push(communicator.send(rankAt(child), region));
    }
    await Promise.all(sends);
    return { form: 'gathered', payloads: [asSent(payload, region, valueBytes)] };
  },
} as const;

function asSent(payload: Payload, data: Region, valueBytes: ValueBytes): Payload {
  if (payload.kind !== 'sparse') return { ...payload, data };
  const count = data.bytes / sparseBytes(1, valueBytes);
  if (!Number.isInteger(count)) {
    throw new Error(`internal: a sparse payload of ${data.bytes} bytes`);
  }
  return { ...payload, count, data };
}
