/**
 * A line that carries bytes one after the other at a fixed rate: one direction of a network
 * card. It stores only the moment at which it is free again, so a transmission that is
 * reported late still ends on time. Pure; times in ms.
 */
import { cableBytes } from '../../shared/machines/emulated-network.ts';

export class SerialLine {
  readonly #msPerByte: number;
  #free = -Infinity;

  constructor(bitsPerSecond: number) {
    this.#msPerByte = 8000 / bitsPerSecond;
  }

  /** When everything accepted so far has passed. */
  get free(): number {
    return this.#free;
  }

  /** Time for which these bytes of a stream occupy the line, headers of packets included. */
  duration(bytes: number): number {
    return cableBytes(bytes) * this.#msPerByte;
  }

  /**
   * Occupies the line for this long once it is free, but not before `start`; returns when it
   * has passed.
   */
  occupy(start: number, duration: number): number {
    this.#free = Math.max(this.#free, start) + duration;
    return this.#free;
  }
}
