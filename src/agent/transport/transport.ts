/**
 * Messages between the engine threads of all ranks, in the spirit of MPI: `send` and
 * `receive` start at once and are awaited later. Messages from one peer on one stream
 * arrive in order; streams are independent of each other. Every wait has a deadline and
 * can be aborted; an unexpected frame is a coded error on both sides.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';

/** The fields on which both sides of a message must agree. */
export interface MessageHeader {
  /** Stream: one per bucket and purpose, so that several exchanges can be in flight. */
  readonly stream: number;
  /** Number of the exchange on this stream since the run began. */
  readonly sequence: number;
  /** Epoch of the exchange plan. */
  readonly epoch: number;
  /** Numeric code of the collective (`collectives/registry.ts`). */
  readonly operation: number;
  /** Numeric code of the payload's kind. */
  readonly dtype: number;
}

export interface WireCounters {
  /** Bytes written to and read from sockets, framing included. */
  readonly sent: number;
  readonly received: number;
  /** Bytes of these that are framing: headers, handshakes, control frames. */
  readonly framingSent: number;
  readonly framingReceived: number;
}

export interface Transport {
  readonly rank: number;
  readonly size: number;

  /**
   * Resolves when `data` may be reused. Views may be in the arena.
   * @throws (rejects) GradwireError `PEER_LOST`, `PEER_TIMEOUT`, `ABORTED`
   */
  send(to: number, header: MessageHeader, data: Uint8Array): Promise<void>;

  /**
   * Receives exactly `into.length` bytes directly into `into`.
   * @throws (rejects) GradwireError `PEER_LOST`, `PEER_TIMEOUT`, `PEER_MISMATCH`,
   * `ABORTED`
   */
  receive(from: number, header: MessageHeader, into: Uint8Array): Promise<void>;

  /**
   * Receives a message of unknown length: `place` is called once with the length that the
   * peer announced (at most `maximum`) and returns the destination.
   */
  receiveSized(
    from: number,
    header: MessageHeader,
    maximum: number,
    place: (length: number) => Uint8Array,
  ): Promise<number>;

  readonly counters: WireCounters;

  /** Tells every peer the error, then rejects everything pending with it. Idempotent. */
  abort(error: ErrorData): void;
  close(): Promise<void>;
}

/** Observes the transport, so that an iteration's time can be attributed. */
export interface TransportObserver {
  /** Whether it follows every message to its arrival; then it is told of that, too. */
  readonly traces?: boolean;
  /** Synchronous work on sockets begins; returns the end. `stream`: of what is sent. */
  working(kind: 'send' | 'receive', stream?: number): () => void;
  /**
   * The transport now waits for something else: nothing, the rest of a message that has
   * begun to arrive, the first byte from a rank, or a peer that does not drain our sends.
   */
  waiting(
    state:
      | { readonly kind: 'nothing' }
      | { readonly kind: 'rest'; readonly rank: number }
      | { readonly kind: 'first'; readonly rank: number }
      | { readonly kind: 'drain'; readonly rank: number },
    stream?: number,
  ): void;
  /** A message is handed over to be sent to this rank. */
  sending?(to: number, header: MessageHeader, bytes: number): void;
  /** A message of this rank has arrived completely, and is expected. */
  delivered?(from: number, header: MessageHeader, bytes: number): void;
}
