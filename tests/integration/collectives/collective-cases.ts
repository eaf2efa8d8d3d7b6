/**
 * What the tests know of each collective: the payload that they try it with and the bytes
 * that each rank must send. A collective without an entry here fails the tests.
 */
import { recursiveDoublingBytesSent } from '../../../src/agent/collectives/recursive-doubling.ts';
import { ringBytesSent } from '../../../src/agent/collectives/ring.ts';

export interface CollectiveCase {
  readonly kind: 'dense' | 'sparse';
  /** Exact bytes that a rank sends, framing excluded. `payloadBytes` is by rank. */
  sent(rank: number, length: number, payloadBytes: readonly number[]): number;
}

export const collectiveCases: Readonly<Record<string, CollectiveCase>> = {
  ring: {
    kind: 'dense',
    sent: (rank, length, payloadBytes) =>
      ringBytesSent(rank, {
        ranks: payloadBytes.length,
        length,
        payloadBytes: payloadBytes[rank]!,
      }),
  },
  'recursive-doubling': {
    kind: 'dense',
    sent: (rank, length, payloadBytes) =>
      recursiveDoublingBytesSent(rank, {
        ranks: payloadBytes.length,
        length,
        payloadBytes: payloadBytes[rank]!,
      }),
  },
  'sparse-allgather': {
    kind: 'sparse',
    sent: (rank, _length, payloadBytes) =>
      (payloadBytes.length - 1) * payloadBytes[rank]!,
  },
};
