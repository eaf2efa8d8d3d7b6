/**
 * One connection's data in transit over an emulated card: stamps outgoing segments with
 * the moment at which the line has carried them, and holds incoming ones until they are
 * due. The card (`emulated-card.ts`) decides when.
 */
import type { PeerClock } from './peer-clock.ts';
import type { SegmentMemory } from './segment-memory.ts';
import { SegmentReader, type Arrived } from './segment-reader.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './segment.ts';

/** Bytes of a delivered piece, few enough for the receive queue to copy. */
const PIECE_BYTES = 8 * 2 ** 10;

/** The connection, as its lane needs it. */
export interface Wire {
  /**
   * Writes to the socket; `taken` is called when the memory may be reused. False: send
   * no more until the lane's `drained`.
   */
  put(segment: Buffer, taken: () => void): boolean;
  /** Delivers bytes of the connection, in order, valid during the call. */
  deliver(bytes: Buffer): void;
  /** Pauses or resumes reading, because too much has come that is not due. */
  setFull(full: boolean): void;
}

/** The card, as its lanes need it. */
export interface LaneCard {
  readonly memory: SegmentMemory;
  /** A lane with more bytes than this not due stops reading. */
  readonly holdBytes: number;
  /** Reads this machine's clock, ms. */
  now(): number;
  /** When the last of these bytes will have left. */
  transmit(bytes: number): number;
  /** Whether lanes may send more now; otherwise they are refilled in turns. */
  hasRoom(): boolean;
  /** A lane has more to send, and its socket accepts it. */
  wants(): void;
  /** A segment has come. */
  came(): void;
  /** The lane has dropped what it held. */
  cleared(lane: Lane): void;
}

export class Lane {
  /** Receives the bytes that the socket reads. */
  readonly reader: SegmentReader;
  readonly #wire: Wire;
  readonly #card: LaneCard;
  /** Clock of the peer's machine; undefined if it is this machine. */
  readonly #clock: PeerClock | undefined;
  readonly #held: Arrived[] = [];
  #heldBytes = 0;
  #full = false;
  #writable = true;
  #wanting = false;
  #refill: (() => void) | undefined;
  #emptied: (() => void) | undefined;
  #headersSent = 0;
  #headersReceived = 0;
  /** When the last segment left its sender. */
  #lastLeftAt = -Infinity;

  /** @param clock clock of the peer's machine; default: this machine's */
  constructor(card: LaneCard, wire: Wire, clock?: PeerClock) {
    this.#card = card;
    this.#wire = wire;
    this.#clock = clock;
    this.reader = new SegmentReader(
      card.memory,
      (segment) => {
        this.#hold(segment);
      },
      (header) => this.#leftAtOf(header),
    );
  }

  /** Limit per turn, because others wait for their turns. */
  get chunkBytes(): number {
    return this.#card.memory.segmentBytes;
  }

  /** Bytes of segment headers put to the socket, and read from it. */
  get headers(): { readonly sent: number; readonly received: number } {
    return { sent: this.#headersSent, received: this.#headersReceived };
  }

  /** Whether it has more to send, and a socket that accepts it. */
  get wanting(): boolean {
    return this.#wanting && this.#writable;
  }

  /** The oldest undelivered segment. */
  get first(): Arrived | undefined {
    return this.#held[0];
  }

  /** Sets the function to call when more may be sent, after `put` has returned false. */
  onRefill(refill: () => void): void {
    this.#refill = refill;
  }

  /**
   * Copies the pieces, a chunk with its framing, and writes them to the socket at once.
   * Returns false if the caller should wait for the refill.
   */
  put(pieces: readonly Uint8Array[]): boolean {
    const { memory } = this.#card;
    let block = memory.take();
    let length = 0;
    for (const piece of pieces) {
      for (let offset = 0; offset < piece.length;) {
        if (length === memory.segmentBytes) {
          this.#leave(block, length);
          block = memory.take();
          length = 0;
        }
        const part = piece.subarray(offset, offset + memory.segmentBytes - length);
        block.set(part, SEGMENT_HEADER_BYTES + length);
        length += part.length;
        offset += part.length;
      }
    }
    this.#leave(block, length);
    if (this.#writable && this.#card.hasRoom()) return true;
    this.#wanting = true;
    if (this.#writable) this.#card.wants();
    return false;
  }

  /** The line has room. */
  refill(): void {
    this.#wanting = false;
    this.#refill?.();
  }

  /** The socket takes more again. */
  drained(): void {
    this.#writable = true;
    if (this.#wanting) this.#card.wants();
  }

  /** The connection is gone: stops sending. */
  drop(): void {
    this.#wanting = false;
  }

  /** Deliver the first; its bytes. */
  deliver(): number {
    const { block, bytes } = this.#held.shift()!;
    this.#heldBytes -= bytes;
    for (let at = 0; at < bytes; at += PIECE_BYTES) {
      this.#wire.deliver(block.subarray(at, Math.min(bytes, at + PIECE_BYTES)));
    }
    this.#card.memory.release(block);
    this.#settle();
    return bytes;
  }

  /** The socket has ended: call back when all that came has been delivered. */
  end(emptied: () => void): void {
    this.#emptied = emptied;
    this.#settle();
  }

  /** Forgets what has come. */
  clear(): void {
    this.#held.length = 0;
    this.#heldBytes = 0;
    this.#card.cleared(this);
    this.#settle();
  }

  #leave(block: Buffer, length: number): void {
    const leftAt = this.#card.transmit(length);
    encodeSegmentHeader(block, { length, leftAt, putAt: this.#card.now() });
    this.#headersSent += SEGMENT_HEADER_BYTES;
    const segment = block.subarray(0, SEGMENT_HEADER_BYTES + length);
    this.#writable = this.#wire.put(segment, () => {
      this.#card.memory.release(block);
    });
  }

  /**
   * Converts a segment's departure to this machine's clock; kept ascending, like the segments, even
   * if the estimate of the other clock changes.
   */
  #leftAtOf({ leftAt, putAt }: SegmentHeader): number {
    if (this.#clock === undefined) return leftAt;
    const own = this.#clock.own(leftAt, putAt, this.#card.now());
    this.#lastLeftAt = Math.max(this.#lastLeftAt, own);
    return this.#lastLeftAt;
  }

  #hold(segment: Arrived): void {
    this.#headersReceived += SEGMENT_HEADER_BYTES;
    this.#held.push(segment);
    this.#heldBytes += segment.bytes;
    if (!this.#full && this.#heldBytes > this.#card.holdBytes) {
      this.#full = true;
      this.#wire.setFull(true);
    }
    this.#card.came();
  }

  /**
   * Resumes reading once there is room, and reports the end once everything is
   * delivered.
   */
  #settle(): void {
    if (this.#full && this.#heldBytes <= this.#card.holdBytes / 2) {
      this.#full = false;
      this.#wire.setFull(false);
    }
    if (this.#held.length > 0) return;
    const emptied = this.#emptied;
    this.#emptied = undefined;
    emptied?.();
  }
}
