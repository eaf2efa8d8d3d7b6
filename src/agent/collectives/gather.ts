/**
 * Allgather of whole payloads, whatever their kind: every rank sends its payload to every
 * other, all at once. For payloads that cannot be summed, and the first half of
 * `sparse-allgather`.
 *
 * Cost: (P−1)·α + (P−1)·bytes·β. Lengths need not be known, since each message carries
 * its own; an empty payload is a message of no bytes.
 */
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { Communicator } from './collective.ts';
import { payloadRegion } from './payload-region.ts';

export const gather = {
  /** Operation code in the headers; those of collectives are below 1000. */
  code: 1001,
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => ({
    form: 'gathered',
    payloads: await gatherPayloads(communicator, payload),
  }),
} as const;

/**
 * The payloads of all ranks in rank order, this one's in its own memory.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export async function gatherPayloads(
  communicator: Communicator,
  payload: Payload,
): Promise<readonly Payload[]> {
  const { rank, size } = communicator;
  const own = payloadRegion(payload, communicator.valueBytes);
  const maximum = largestPayload(payload, communicator.valueBytes);
  const arrivals: Promise<Payload>[] = [];
  for (let peer = 0; peer < size; peer++) {
    if (peer === rank) {
      arrivals.push(Promise.resolve({ ...payload, data: own }));
      continue;
    }
    arrivals.push(
      communicator
        .receiveSized(peer, maximum, (bytes) =>
          communicator.scratch(`gather ${peer}`, bytes),
        )
        .then((region) => asPayload(communicator, peer, payload, region)),
    );
  }
  // Each rank begins with a different peer, so that none is contacted by all at once.
  const sends = Array.from({ length: size - 1 }, (_, step) =>
    communicator.send((rank + step + 1) % size, own),
  );
  const [payloads] = await Promise.all([Promise.all(arrivals), Promise.all(sends)]);
  return payloads;
}

/**
 * The maximum size of a payload of this kind, beyond which a peer's message is refused.
 */
function largestPayload(payload: Payload, valueBytes: ValueBytes): number {
  const { kind, length, data } = payload;
  switch (kind) {
    case 'dense':
      return valueBytes * length;
    case 'sparse':
      return sparseBytes(length, valueBytes);
    case 'scalars':
      return data.bytes;
    case 'quantized':
      // Variable-length codes may exceed the dense size, but not without limit.
      return 8 * length + 65_536;
    default:
      return payload satisfies never;
  }
}

/** A peer's message as a payload of the kind that all ranks send. */
function asPayload(
  communicator: Communicator,
  peer: number,
  own: Payload,
  data: Region,
): Payload {
  if (own.kind !== 'sparse') return { ...own, data };
  const count = data.bytes / sparseBytes(1, communicator.valueBytes);
  if (!Number.isInteger(count)) throw invalid(peer, `${data.bytes} bytes of pairs`);
  const stream = { offset: data.offset, count };
  // Merges rely on ascending indices, and scatters on indices within range.
  const bad = communicator.reduction.firstDisordered(stream, 0, own.length);
  if (bad >= 0) {
    const index = communicator.arena.u32(data.offset, count)[bad]!;
    throw invalid(
      peer,
      `index ${index} at position ${bad}, out of order or not below ${own.length}`,
    );
  }
  return { kind: 'sparse', length: own.length, count, data };
}

function invalid(peer: number, what: string): GradwireError {
  return failure('PAYLOAD_INVALID', `rank ${peer} sent a sparse payload with ${what}`, {
    rank: peer,
    next: 'Deploy the same version of the agent on every machine.',
  });
}
