/**
 * Memory for a chain of merges: three buffers of equal size that rotate as merged result,
 * incoming stream and next result. Kept from exchange to exchange.
 */
import type { Region } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { streamCapacity, type Stream } from './sparse-stream.ts';

export class StreamSlots {
  readonly #slots: readonly Region[];

  /** @param length elements of the longest range */
  constructor(communicator: Communicator, length: number) {
    this.#slots = [0, 1, 2].map((slot) =>
      communicator.scratch(
        `slot ${slot}`,
        streamCapacity(length, communicator.valueBytes),
      ),
    );
  }

  /** A region that overlaps none of these streams, which occupy at most two slots. */
  free(...streams: readonly Stream[]): Region {
    const free = this.#slots.find(
      ({ offset, bytes }) =>
        !streams.some(
          (stream) => stream.offset >= offset && stream.offset < offset + bytes,
        ),
    );
    if (free === undefined) throw new Error('internal: no slot is free');
    return free;
  }
}
