/**
 * Reduce-scatter: every rank sends part j of its vector to rank j, all at once, and
 * combines the contributions to its own part in rank order, whatever arrives first.
 *
 * Cost: (P−1)·α + (P−1)/P·N·4β + (P−1)/P·N·γ. If the exchange is quantised, parts are
 * sent with b bits per element; a rank's contribution to its own part stays exact. N need
 * not be divisible by P (`partition.ts`): for N < P all parts but the last are empty and
 * send nothing.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { vectorOf } from '../memory/arena.ts';
import type { Communicator, Quantization } from './collective.ts';
import { part } from './partition.ts';
import { vectorRegion } from './payload-region.ts';
import {
  dequantizePart,
  quantizeContribution,
  quantizedBytes,
} from './quantized-parts.ts';

export const reduceScatter = {
  code: 1004,
  /**
   * Combines this rank's part of the vector over ranks, in place, and returns it. The other parts
   * do not change.
   * @throws GradwireError `PAYLOAD_INVALID` of quantised contributions
   */
  run: async (communicator: Communicator, vector: Vector): Promise<Vector> => {
    const { rank, size, valueBytes } = communicator;
    const own = part(vector, size, rank, valueBytes);
    if (size === 1) return own;
    const { quantization } = communicator;
    const arrivals = await exchange(communicator, vector, quantization);
    communicator.reduce(() => {
      if (quantization === undefined) combineInOrder(communicator, own, rank, arrivals);
      else combineQuantized(communicator, own, arrivals, quantization);
    });
    return own;
  },
} as const;

/** All ranks' contributions to this rank's part, by rank; its own place is empty. */
async function exchange(
  communicator: Communicator,
  vector: Vector,
  quantization: Quantization | undefined,
): Promise<readonly Region[]> {
  const { rank, size, valueBytes } = communicator;
  const own = part(vector, size, rank, valueBytes);
  const bytesOf = ({ length }: Vector): number =>
    quantization === undefined
      ? valueBytes * length
      : quantizedBytes(length, quantization);
  const bytes = bytesOf(own);
  const arrivals = Array.from({ length: size }, (_, peer) =>
    peer === rank || bytes === 0
      ? { offset: 0, bytes: 0 }
      : { ...communicator.scratch(`part of ${peer}`, bytes), bytes },
  );
  const received = arrivals.map((region, peer) =>
    region.bytes === 0 ? Promise.resolve() : communicator.receive(peer, region),
  );
  const sends: Promise<void>[] = [];
  // Each rank begins with a different peer, so that none is contacted by all at once.
  for (let step = 1; step < size; step++) {
    const peer = (rank + step) % size;
    const theirs = part(vector, size, peer, valueBytes);
    if (theirs.length === 0) continue;
    if (quantization === undefined) {
      sends.push(communicator.send(peer, vectorRegion(theirs, valueBytes)));
      continue;
    }
    const partBytes = bytesOf(theirs);
    const { offset } = communicator.scratch(`codes for ${peer}`, partBytes);
    const codes = { offset, bytes: partBytes };
    communicator.reduce(() => {
      quantizeContribution(communicator, theirs, quantization, peer, codes);
    });
    sends.push(communicator.send(peer, codes));
  }
  await Promise.all([...received, ...sends]);
  return arrivals;
}

/**
 * own ← ((x₀ ∘ x₁) ∘ …) ∘ xₙ, where x_place is own and the others have arrived; ∘ commutes
 * bit for bit.
 */
export function combineInOrder(
  communicator: Communicator,
  own: Vector,
  place: number,
  arrivals: readonly Region[],
): void {
  const { operation, reduction } = communicator;
  if (own.length === 0) return;
  const [first] = arrivals;
  const lower = vectorOf(first!, own.length);
  for (const [index, region] of arrivals.entries()) {
    const theirs = vectorOf(region, own.length);
    if (index > place) reduction.combine(operation, own, theirs);
    else if (index === place && place > 0) reduction.combine(operation, own, lower);
    else if (index > 0 && index < place) reduction.combine(operation, lower, theirs);
  }
}

/** Combines decoded contributions in the same order. */
function combineQuantized(
  communicator: Communicator,
  own: Vector,
  arrivals: readonly Region[],
  quantization: Quantization,
): void {
  const { operation, rank, reduction } = communicator;
  if (own.length === 0) return;
  const scratch = communicator.scratch('decoded', rank === 0 ? 0 : 4 * own.length);
  const lower = vectorOf(scratch, own.length);
  for (const [peer, region] of arrivals.entries()) {
    if (peer > rank) {
      dequantizePart(communicator, region, quantization, own, true, peer);
    } else if (peer < rank) {
      dequantizePart(communicator, region, quantization, lower, peer > 0, peer);
    } else if (rank > 0) reduction.combine(operation, own, lower);
  }
}
