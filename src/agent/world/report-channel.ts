/**
 * A rank's reports to its parent: frames on one stream. Bounded: a supervisor that does
 * not read (a slow disk under its journal) holds the training back, not the memory.
 */
import type { Writable } from 'node:stream';
import { encodeFrame } from '../../shared/protocol/frame.ts';

/** Some ten thousand records: much more than a supervisor is ever behind by. */
const FULL_BYTES = 8 * 2 ** 20;

export class ReportChannel<Report> {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Never refuses: whoever reports much waits for `room` in between. */
  send(report: Report): void {
    this.#stream.write(encodeFrame(report));
  }

  /** Undefined while there is room; otherwise resolves when everything has been read. */
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
