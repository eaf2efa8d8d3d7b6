/**
 * The first phase of the split algorithms: the range of indices is split into P parts and
 * every rank sends part j of its stream to rank j, all at once; rank j then has all
 * contributions to its part.
 *
 * Cost: (P−1)·α + (P−1)/P·k·8β.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3.2.
 */
import type { Payload } from '../memory/payload.ts';
import type { Communicator } from './collective.ts';
import { partRanges, type ElementRange } from './partition.ts';
import {
  unframed,
  framed,
  split,
  streamCapacity,
  type Stream,
} from './sparse-stream.ts';

/**
 * All ranks' contributions to this rank's part, in rank order.
 * @param ranges the parts, adjacent and the same on all ranks; default: equal parts
 */
export async function exchangeParts(
  communicator: Communicator,
  payload: Payload,
  ranges: readonly ElementRange[] = partRanges(payload.length, communicator.size),
): Promise<readonly Stream[]> {
  const { rank, size } = communicator;
  const range = ranges[rank]!;
  const maximum = streamCapacity(range.length, communicator.valueBytes);
  const parts = communicator.reduce(() => split(communicator, payload, ranges));
  const arrivals = Array.from({ length: size }, async (_, peer): Promise<Stream> => {
    if (peer === rank) return parts[rank]!;
    const region = await communicator.receiveSized(peer, maximum, (bytes) =>
      communicator.scratch(`part of ${peer}`, bytes),
    );
    return communicator.reduce(() => unframed(communicator, region, range, peer));
  });
  // Each rank begins with a different peer, so that none is contacted by all at once.
  const sends = Array.from({ length: size - 1 }, (_, step) => {
    const peer = (rank + step + 1) % size;
    return communicator.send(peer, framed(communicator, parts[peer]!));
  });
  const [streams] = await Promise.all([Promise.all(arrivals), Promise.all(sends)]);
  return streams;
}
