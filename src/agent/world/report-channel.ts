/**
 * A rank's reports to its parent, from both ends: frames on one stream. What a rank reports often
 * is gathered: a message is sent when 256 reports are there or 50 ms after the first, so that the
 * stream stays live at little cost to the trainer. Bounded: a supervisor that does not read (a slow
 * disk under its journal) holds the training back, not the memory.
 */
import type { Readable, Writable } from 'node:stream';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import type { Parse } from './line-message.ts';
import { MarkedStream } from './marked-stream.ts';

/** Bytes of about ten thousand records, much more than a supervisor's usual lag. */
const FULL_BYTES = 8 * 2 ** 20;
const BATCH = 256;
const DELAY_MS = 50;

/**
 * An empty message whose frame ends with a line feed, so that a carrier that waits for
 * whole lines passes on everything before it.
 */
const FLUSH = 0x0a;

/**
 * A part of a message, or a function that makes it from values that no longer change. It is made
 * only when it is sent, which is mostly while the rank waits for others: several in a row take
 * a fraction of the time of one between two iterations.
 */
export type Gathered<Part> = Part | (() => Part);

export class ReportChannel<Report, Part = never> {
  readonly #stream: Writable;
  readonly #flush: Uint8Array;
  readonly #reportOf: ((parts: readonly Part[]) => Report) | undefined;
  #parts: Gathered<Part>[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param byLine the stream is carried line by line
   * @param reportOf makes the message with these parts, if any are gathered
   */
  constructor(
    stream: Writable,
    byLine = false,
    reportOf?: (parts: readonly Part[]) => Report,
  ) {
    this.#stream = stream;
    this.#reportOf = reportOf;
    // MessagePack of a small number is the byte itself.
    this.#flush = byLine ? encodeFrame(FLUSH) : new Uint8Array();
  }

  /** Sends a part with others. Never refuses: callers await `room` in between. */
  gather(part: Gathered<Part>): void {
    this.#parts.push(part);
    if (this.#parts.length >= BATCH) this.flush();
    else
      this.#timer ??= setTimeout(() => {
        this.flush();
      }, DELAY_MS);
  }

  /** Sends a report, after what was gathered before it. */
  send(report: Report): void {
    this.flush();
    this.#write(report);
  }

  /** Sends what was gathered. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#parts.length === 0) return;
    const parts = this.#parts.map((part) =>
      typeof part === 'function' ? (part as () => Part)() : part,
    );
    this.#parts = [];
    this.#write(this.#reportOf!(parts));
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

  /**
   * Sends bytes that the process prints; `readReports` tells them from reports by their type.
   * @param sent called when they have left; at once if nothing waits, so that a process which exits
   * now loses nothing
   */
  print(bytes: Uint8Array, sent?: () => void): void {
    let waits = false;
    this.#write(bytes, () => {
      if (waits) sent?.();
    });
    waits = this.#stream.writableLength > 0;
    if (!waits) sent?.();
  }

  /** Whether nothing more can be sent. */
  get isEnded(): boolean {
    return this.#stream.writableEnded;
  }

  /** Sends what was gathered, and calls back when the last report has been handed over. */
  end(ended: () => void): void {
    this.flush();
    this.#stream.end(ended);
  }

  #write(message: Report | Uint8Array, sent?: () => void): void {
    const frame = encodeFrame(message);
    this.#stream.write(
      this.#flush.length === 0 ? frame : Buffer.concat([frame, this.#flush]),
      sent,
    );
  }
}

/** The parent of a rank, as it hears of it. */
export interface ReportListener<Report> {
  /** Checks a report. */
  readonly parse: Parse<Report>;
  readonly heard: (report: Report) => void;
  /** Receives bytes that the process prints, if it sends them. */
  readonly printed?: ((bytes: Buffer) => void) | undefined;
  /** Something came that is no report; the rest is not read. */
  readonly broken: (error: unknown) => void;
}

/**
 * Reads the reports of a rank.
 * @param byLine the stream is carried line by line, and others may have written to it before
 */
export function readReports<Report>(
  stream: Readable,
  byLine: boolean,
  { parse, heard, printed, broken }: ReportListener<Report>,
): void {
  const decoder = new FrameDecoder();
  const marked = byLine ? new MarkedStream() : undefined;
  let isReading = true;
  stream.on('data', (chunk: Buffer) => {
    if (!isReading) return;
    try {
      for (const report of decoder.push(marked?.take(chunk) ?? chunk)) {
        if (report === FLUSH) continue;
        // Reports are maps; only output of a process elsewhere comes as bytes.
        if (byLine && report instanceof Uint8Array) printed?.(Buffer.from(report));
        else heard(parse(report));
      }
    } catch (error) {
      isReading = false;
      broken(error);
    }
  });
}
