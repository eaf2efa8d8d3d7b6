/**
 * Ring allreduce: reduce-scatter, then allgather, around the ring of ranks. Part p of the
 * vector starts at rank p and is summed in the order p, p + 1, …, p − 1 (mod P), which
 * does not depend on arrival: all ranks and all runs get the same bits.
 *
 * Cost: 2(P−1)·α + 2(P−1)/P·N·4β, and (P−1)/P·N·γ, of which a step hides all but one chunk: the
 * last, or where that is short, the one before it, which is still being summed when it comes. Every
 * rank sends at most 2N − 2⌊N/P⌋ elements, the minimum, to one neighbour only.
 *
 * Parts are sent in chunks: while one is being summed the next arrives in the socket, and
 * a summed chunk is sent on at once, so the ring is a pipeline through all its 2(P−1)
 * steps.
 *
 * Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations" (2009); the chunks are ours.
 */
import { messageSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Vector } from '../memory/arena.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { crossingRing } from './node-links.ts';
import { part } from './partition.ts';
import { payloadVector, vectorRegion, wantsAverage } from './payload-region.ts';

export const RING_CHUNK_BYTES = 256 * 2 ** 10;
/**
 * The number of receives posted ahead, so that an arriving chunk is stored directly in
 * its place.
 */
const WINDOW = 4;

export const ring: CollectiveDefinition = {
  id: 'ring',
  code: 1,
  title: 'Ring',
  summary: 'Dense sums passed around a ring: fewest bytes, 2(P−1) steps.',
  source: 'Patarasuk and Yuan (2009), JPDC 69(2)',
  formula: '2(P−1)·α + 2(P−1)/P·N·4β + (P−1)/P·N·γ',
  suits: 'Large vectors and few ranks.',
  takes: ['dense', 'scalars'],
  cost: (shape, network) => {
    const { ranks, payloadBytes } = shape;
    const steps = ranks - 1;
    const partBytes = payloadBytes / ranks;
    const summed = Math.min(partBytes, RING_CHUNK_BYTES) / (shape.valueBytes ?? 4);
    return (
      2 * steps * messageSeconds(network, partBytes) + steps * summed * network.gamma
    );
  },
  wireBytes: (shape) => {
    const sent = Array.from({ length: shape.ranks }, (_, rank) =>
      ringBytesSent(rank, shape),
    );
    return sent.reduce((most, bytes) => Math.max(most, bytes), 0);
  },
  crossing: ({ payloadBytes, ranks }, places) =>
    crossingRing(((2 * (ranks - 1)) / ranks) * payloadBytes, places),
  run: runRing,
};

/** Bytes that one rank sends, framing excluded: exact. */
export function ringBytesSent(rank: number, shape: ExchangeShape): number {
  const { ranks, payloadBytes, valueBytes = 4 } = shape;
  const vector = { offset: 0, length: payloadBytes / valueBytes };
  const bytesOf = (index: number): number =>
    valueBytes * part(vector, ranks, (index + ranks) % ranks).length;
  // Everything twice, except for the part that it completes and the one that it gets
  // last.
  return 2 * payloadBytes - bytesOf(rank + 1) - bytesOf(rank + 2);
}

/** A chunk to receive: where it belongs, and what becomes of it. */
interface Chunk {
  readonly vector: Vector;
  /** Whether it is still a partial sum, to be added to this rank's elements. */
  readonly partial: boolean;
  /** Whether that completes the sum. */
  readonly completes: boolean;
  /** Whether the next rank needs it too. */
  readonly forward: boolean;
}

async function runRing(
  communicator: Communicator,
  payload: Payload,
): Promise<Combined> {
  const { rank, size, valueBytes } = communicator;
  const vector = payloadVector(payload, valueBytes);
  const averaged = size > 1 ? wantsAverage(communicator, payload) : undefined;
  if (size > 1) {
    const next = (rank + 1) % size;
    const sends = chunksOf(part(vector, size, rank, valueBytes), valueBytes).map(
      (chunk) => communicator.send(next, vectorRegion(chunk, valueBytes)),
    );
    const averages = averaged === true;
    await relay(communicator, incoming(communicator, vector), sends, averages);
    await Promise.all(sends);
  }
  return { form: 'dense', data: vectorRegion(vector, valueBytes), averaged };
}

/**
 * All chunks that this rank receives, in order. At step s of the reduce-scatter it gets
 * part rank − s − 1, at step s of the allgather part rank − s. A part is overwritten only
 * by its final sum. That contains what this rank sent of the part, so the send has
 * completed.
 */
function incoming(communicator: Communicator, vector: Vector): Chunk[] {
  const { rank, size, valueBytes } = communicator;
  const chunks: Chunk[] = [];
  for (let step = 0; step < 2 * (size - 1); step++) {
    const partial = step < size - 1;
    const index = partial ? rank - step - 1 : rank - (step - (size - 1));
    const forward = step < 2 * (size - 1) - 1;
    const completes = step === size - 2;
    const whole = part(vector, size, (index + size) % size, valueBytes);
    for (const chunk of chunksOf(whole, valueBytes)) {
      chunks.push({ vector: chunk, partial, completes, forward });
    }
  }
  return chunks;
}

/** Receives, adds and forwards chunks; the pending sends are added to `sends`. */
async function relay(
  communicator: Communicator,
  chunks: readonly Chunk[],
  sends: Promise<void>[],
  averages: boolean,
): Promise<void> {
  const { kernels, rank, size, reduction, operation, valueBytes } = communicator;
  const previous = (rank + size - 1) % size;
  const next = (rank + 1) % size;
  const slotBytes = chunks.reduce(
    (most, { vector }) => Math.max(most, valueBytes * vector.length),
    0,
  );
  const { offset } = communicator.scratch('ring', WINDOW * slotBytes);
  const landing = (index: number): Vector => {
    const { vector, partial } = chunks[index]!;
    if (!partial) return vector;
    const slot = offset + (index % WINDOW) * slotBytes;
    return { offset: slot, length: vector.length };
  };
  const arrivals: Promise<void>[] = [];
  for (let index = 0; index < chunks.length; index++) {
    while (arrivals.length < Math.min(index + WINDOW, chunks.length)) {
      const into = vectorRegion(landing(arrivals.length), valueBytes);
      arrivals.push(communicator.receive(previous, into));
    }
    await arrivals[index];
    const { completes, forward, partial, vector } = chunks[index]!;
    if (partial) {
      communicator.reduce(() => {
        reduction.combine(operation, vector, landing(index));
        if (averages && completes) kernels.scale(vector, 1 / size);
      });
    }
    if (forward) sends.push(communicator.send(next, vectorRegion(vector, valueBytes)));
  }
}

function chunksOf(vector: Vector, valueBytes: ValueBytes): Vector[] {
  const size = RING_CHUNK_BYTES / valueBytes;
  return Array.from({ length: Math.ceil(vector.length / size) }, (_, index) => ({
    offset: vector.offset + index * RING_CHUNK_BYTES,
    length: Math.min(size, vector.length - index * size),
  }));
}
