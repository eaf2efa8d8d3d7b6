/**
 * A collective from outside: rank 0 receives all vectors, sums them in rank order and sends
 * the sum to everybody.
 *
 * Cost: 2·(P−1)·(α + bytes·β) and P−1 sums, at rank 0.
 */
import type { CollectiveDefinition } from '../../../src/agent/collectives/collective.ts';
import { payloadVector } from '../../../src/agent/collectives/payload-region.ts';

export const star: CollectiveDefinition = {
  id: 'star',
  code: 901,
  title: 'Star',
  summary: 'One rank sums for all.',
  source: 'A test',
  takes: ['dense'],
  cost: ({ ranks, payloadBytes }, { alpha, beta, gamma }) =>
    (ranks - 1) * (2 * (alpha + payloadBytes * beta) + (payloadBytes / 4) * gamma),
  wireBytes: ({ ranks, payloadBytes }) => (ranks - 1) * payloadBytes,
  run: async (communicator, payload) => {
    const { rank, size, operation, reduction } = communicator;
    const vector = payloadVector(payload);
    const region = { offset: vector.offset, bytes: 4 * vector.length };
    if (rank === 0) {
      const other = communicator.scratch('star', region.bytes);
      for (let peer = 1; peer < size; peer++) {
        const from = { offset: other.offset, bytes: region.bytes };
        await communicator.receive(peer, from);
        communicator.reduce(() => {
          reduction.combine(operation, vector, {
            offset: other.offset,
            length: vector.length,
          });
        });
      }
      for (let peer = 1; peer < size; peer++) await communicator.send(peer, region);
    } else {
      await communicator.send(0, region);
      await communicator.receive(0, region);
    }
    return { form: 'dense', data: region };
  },
};
