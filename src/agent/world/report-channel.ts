/**
 * A rank's reports to its parent: frames on one stream. Bounded: a supervisor that does
 * not read (a slow disk under its journal) holds the training back, not the memory.
 */
import type { Writable } from 'node:stream';
import { encodeFrame } from '../../shared/protocol/frame.ts';

/** Bytes of about ten thousand records, much more than a supervisor's usual lag. */
const FULL_BYTES = 8 * 2 ** 20;

/**
 * An empty message whose frame ends with a line feed, so that a carrier that waits for
 * whole lines passes on everything before it.
 */
export const FLUSH = 0x0a;

export class ReportChannel<Report> {
  readonly #stream: Writable;
  readonly #flush: Uint8Array;

  /** @param byLine the stream is carried line by line */
  constructor(stream: Writable, byLine = false) {
    this.#stream = stream;
    // MessagePack of a small number is the byte itself.
    this.#flush = byLine ? encodeFrame(FLUSH) : new Uint8Array();
  }

  /** Sends a report. Never refuses: callers that report a lot await `room` in between. */
  send(report: Report): void {
    const frame = encodeFrame(report);
    this.#stream.write(
      this.#flush.length === 0 ? frame : Buffer.concat([frame, this.#flush]),
    );
  }

  /**
   * Waits for room; undefined while there is some, otherwise resolves when everything has been
   * read.
   */
  room(): Promise<void> | undefined {
    if (this.#stream.writableLength < FULL_BYTES) return undefined;
    return new Promise((resolve) => {
      this.#stream.once('drain', resolve);
    });
  }

  /** Calls back when the last report has been handed over. */
  end(ended: () => void): void {
    this.#stream.end(ended);
  }
}
