/**
 * Memory for a chain of merges: three buffers of equal size that rotate as merged result,
 * incoming stream and next result. Kept from exchange to exchange.
 */
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { streamCapacity, type Stream } from './sparse-stream.ts';

const SLOTS = ['slot 0', 'slot 1', 'slot 2'] as const;

export class StreamSlots {
  readonly #slots: readonly Region[];

  /** @param length elements of the longest range */
  constructor(communicator: Communicator, length: number) {
    const bytes = streamCapacity(length, communicator.valueBytes);
    this.#slots = SLOTS.map((slot) => communicator.scratch(slot, bytes));
  }

  /** A region that overlaps neither of these streams, which occupy at most two slots. */
  free(one: Stream, other = one): Region {
    for (const slot of this.#slots) {
      if (!isIn(one, slot) && !isIn(other, slot)) return slot;
    }
    throw new Error('internal: no slot is free');
  }
}

const isIn = (stream: Stream, { bytes, offset }: Region): boolean =>
  stream.offset >= offset && stream.offset < offset + bytes;
