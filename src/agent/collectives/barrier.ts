/**
 * Barrier by dissemination: in round t every rank signals the rank 2^t above and hears from
 * the rank 2^t below, counted around. After the last round each has heard, through
 * others, from all: no rank leaves before all have arrived.
 *
 * Cost: ⌈log₂P⌉·α. Messages of no bytes, for any P.
 *
 * Source: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (1988).
 */
import type { Communicator } from './collective.ts';

export const barrier = {
  code: 1005,
  run: async (communicator: Communicator): Promise<void> => {
    const { rank, size } = communicator;
    const nothing = { offset: communicator.scratch('barrier', 0).offset, bytes: 0 };
    for (let distance = 1; distance < size; distance *= 2) {
      await Promise.all([
        communicator.send((rank + distance) % size, nothing),
        communicator.receive((rank - distance + size) % size, nothing),
      ]);
    }
  },
} as const;
