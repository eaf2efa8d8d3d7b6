/**
 * Matches what one peer sends with what this rank expects from it: first in, first out on
 * each stream, and streams are independent. A message whose receive is posted is copied
 * directly to its destination; others are kept until one is. On a stream there are either
 * posted receives or kept messages, never both:
 *
 *     stream 3   posted  [ r7 r8 ]      kept  [ ]
 *     stream 5   posted  [ ]            kept  [ m2 m3… ]   (m3 still arriving)
 *
 * Pure: no sockets.
 * Upholds invariant I3 (docs/architecture.md).
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { FrameSink } from './frame-reader.ts';
import { decodeAbortBody, type FrameHeader } from './message-frame.ts';
import type { PendingReceive } from './pending-operation.ts';
import { giveBack, SPARE_BYTES, takeSpare } from './spare-buffers.ts';

export interface ReceiveEvents {
  delivered(receive: PendingReceive): void;
  /** The peer gave up and said why. */
  aborted(reason: GradwireError, bodyBytes: number): void;
}

/** A message that arrived, or is arriving, before its receive was posted. */
interface KeptMessage {
  readonly frame: FrameHeader;
  readonly pieces: Buffer[];
  bytes: number;
  /** Memory that a reader fills itself, and how much of it is filled. */
  tail: Buffer;
  tailBytes: number;
  /** Tails from `spare-buffers.ts`, given back once their message is delivered. */
  readonly lent: Buffer[];
}

interface Stream {
  readonly posted: PendingReceive[];
  readonly kept: KeptMessage[];
}

type Target =
  | { readonly kind: 'none' }
  | { readonly kind: 'receive'; readonly receive: PendingReceive }
  | { readonly kind: 'kept'; readonly message: KeptMessage }
  | { readonly kind: 'abort'; readonly pieces: Buffer[] };

const NOWHERE: Target = { kind: 'none' };

/** A piece smaller than this is copied rather than keep its whole chunk alive. */
export const WORTH_KEEPING = 16 * 2 ** 10;
/**
 * Approximate memory of a kept message besides its bytes; even an empty one costs
 * something.
 */
const KEPT_MESSAGE_BYTES = 512;
const NO_BYTES = Buffer.alloc(0);

export class ReceiveQueue implements FrameSink {
  readonly #rank: number;
  readonly #peer: number;
  readonly #events: ReceiveEvents;
  readonly #streams = new Map<number, Stream>();
  /** The destination of the body of the frame that is arriving. */
  #target: Target = NOWHERE;
  #keptBytes = 0;
  #keptMessages = 0;
  #expected = 0;

  /** @param rank this rank, for messages. */
  constructor(rank: number, peer: number, events: ReceiveEvents) {
    this.#rank = rank;
    this.#peer = peer;
    this.#events = events;
  }

  /** Bytes of messages whose receives are not posted. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Approximate memory of kept messages, in bytes. */
  get keptMemory(): number {
    return this.#keptBytes + KEPT_MESSAGE_BYTES * this.#keptMessages;
  }

  /** Receives that have been posted and not delivered. */
  get expected(): number {
    return this.#expected;
  }

  /**
   * Expects a message. If it has arrived already, it is delivered before the call
   * returns.
   * @throws GradwireError `PEER_MISMATCH`
   */
  post(receive: PendingReceive): void {
    const stream = this.#stream(receive.header.stream);
    const message = stream.kept.shift();
    this.#expected++;
    if (message === undefined) {
      stream.posted.push(receive);
      return;
    }
    this.#check(message.frame, receive);
    receive.begin(message.frame);
    for (const piece of message.pieces) receive.take(piece);
    receive.take(message.tail.subarray(0, message.tailBytes));
    for (const tail of message.lent) giveBack(tail);
    this.#keptBytes -= message.bytes;
    this.#keptMessages--;
    if (this.#target.kind === 'kept' && this.#target.message === message) {
      this.#target = { kind: 'receive', receive };
    } else {
      this.#deliver(receive);
    }
  }

  /** @throws GradwireError `PEER_MISMATCH` */
  begin(frame: FrameHeader): void {
    if (frame.kind === 'abort') {
      this.#target = { kind: 'abort', pieces: [] };
      return;
    }
    const stream = this.#stream(frame.stream);
    const receive = stream.posted.shift();
    if (receive === undefined) {
      const message = {
        frame,
        pieces: [],
        bytes: 0,
        tail: NO_BYTES,
        tailBytes: 0,
        lent: [],
      };
      stream.kept.push(message);
      this.#keptMessages++;
      this.#target = { kind: 'kept', message };
      return;
    }
    this.#check(frame, receive);
    receive.begin(frame);
    this.#target = { kind: 'receive', receive };
  }

  body(piece: Buffer): void {
    const target = this.#target;
    switch (target.kind) {
      case 'receive':
        target.receive.take(piece);
        break;
      case 'kept':
        keepIn(target.message, piece);
        target.message.bytes += piece.length;
        this.#keptBytes += piece.length;
        break;
      case 'abort':
        target.pieces.push(keep(piece));
        break;
      case 'none':
        throw new Error('internal: body of no frame');
    }
  }

  room(missing: number): Uint8Array | undefined {
    const target = this.#target;
    if (target.kind === 'receive') return target.receive.room(missing);
    if (target.kind !== 'kept') return undefined;
    const { message } = target;
    if (message.tailBytes === message.tail.length) {
      seal(message);
      message.tail = tailOf(message, missing);
    }
    return message.tail.subarray(message.tailBytes, message.tailBytes + missing);
  }

  filled(bytes: number): void {
    const target = this.#target;
    if (target.kind === 'receive') target.receive.filled(bytes);
    else if (target.kind === 'kept') {
      target.message.tailBytes += bytes;
      target.message.bytes += bytes;
      this.#keptBytes += bytes;
    } else throw new Error('internal: no room was given');
  }

  /** @throws GradwireError `FRAME_INVALID` */
  end(): void {
    const target = this.#target;
    this.#target = NOWHERE;
    if (target.kind === 'receive') this.#deliver(target.receive);
    else if (target.kind === 'abort') {
      const body = Buffer.concat(target.pieces);
      this.#events.aborted(decodeAbortBody(body), body.length);
    }
  }

  /** Forgets everything posted and kept: the run has failed or ended. */
  clear(): void {
    this.#streams.clear();
    this.#target = NOWHERE;
    this.#keptBytes = 0;
    this.#keptMessages = 0;
    this.#expected = 0;
  }

  #deliver(receive: PendingReceive): void {
    this.#expected--;
    receive.complete();
    this.#events.delivered(receive);
  }

  #stream(number: number): Stream {
    let stream = this.#streams.get(number);
    if (stream === undefined) {
      stream = { posted: [], kept: [] };
      this.#streams.set(number, stream);
    }
    return stream;
  }

  #check(found: FrameHeader, receive: PendingReceive): void {
    const expected = receive.header;
    for (const field of ['sequence', 'epoch', 'operation', 'dtype'] as const) {
      if (found[field] !== expected[field]) {
        throw this.#mismatch(found, field, `${expected[field]}`, `${found[field]}`);
      }
    }
    if (receive.exact !== undefined && found.length !== receive.exact) {
      throw this.#mismatch(found, 'length', `${receive.exact}`, `${found.length}`);
    }
    if (found.length > receive.maximum) {
      const limit = `at most ${receive.maximum}`;
      throw this.#mismatch(found, 'length', limit, `${found.length}`);
    }
  }

  #mismatch(
    found: FrameHeader,
    field: string,
    expected: string,
    value: string,
  ): GradwireError {
    return failure(
      'PEER_MISMATCH',
      `rank ${this.#peer} sent a message with ${field} ${value}, ` +
        `rank ${this.#rank} expected ${expected}`,
      {
        rank: this.#peer,
        place: `stream ${found.stream}, exchange ${found.sequence}`,
        next: 'The ranks are executing different steps. Deploy the same version on every machine.',
      },
    );
  }
}

/** Memory for a message of which this many bytes are missing. Small ones would waste a spare buffer. */
function tailOf({ lent }: KeptMessage, missing: number): Buffer {
  if (missing < SPARE_BYTES / 2) return Buffer.allocUnsafe(missing);
  const tail = takeSpare();
  lent.push(tail);
  return tail;
}

/** Keeps a piece, a small one where the tail has room for it. */
function keepIn(message: KeptMessage, piece: Buffer): void {
  const { tail, tailBytes } = message;
  if (piece.length < WORTH_KEEPING && piece.length <= tail.length - tailBytes) {
    tail.set(piece, tailBytes);
    message.tailBytes += piece.length;
    return;
  }
  seal(message);
  message.pieces.push(keep(piece));
}

/** Turns the tail into a piece, so that bytes received in another way follow it. */
function seal(message: KeptMessage): void {
  if (message.tailBytes > 0) {
    message.pieces.push(message.tail.subarray(0, message.tailBytes));
  }
  message.tail = NO_BYTES;
  message.tailBytes = 0;
}

function keep(piece: Buffer): Buffer {
  return piece.length < WORTH_KEEPING ? Buffer.from(piece) : piece;
}
