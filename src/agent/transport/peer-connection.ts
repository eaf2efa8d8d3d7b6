/**
 * One established connection as the mesh sees it: frames out, frames in, and counters. It
 * knows nothing about deadlines or the other ranks; `mesh-transport.ts` does.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { ReceiveEvents, ReceiveQueue } from './receive-queue.ts';
import type { MessageHeader } from './transport.ts';

/** Messages up to this size are copied after their header: one buffer, one write. */
export const COPY_BYTES = 4096;
/** Bytes in a connection's queue from which on copied messages also wait for the peer. */
export const QUEUE_BYTES = 2 ** 20;

/** Limits of unrequested messages. Beyond `pauseBytes`, the socket is not read. */
export interface BacklogLimits {
  readonly pauseBytes: number;
  /** Reading continues while a receive waits, up to here: then the run fails. */
  readonly failBytes: number;
}

export interface PeerEvents extends ReceiveEvents {
  /** Bytes have come: returns the end of the synchronous work on them. */
  reading(): () => void;
  /** The bytes have been processed. */
  read(peer: PeerConnection): void;
  /** The peer sent something invalid or unexpected. */
  broken(peer: PeerConnection, cause: unknown): void;
  /** No more bytes will come. */
  gone(peer: PeerConnection): void;
}

export interface PeerConnection {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  /** Reason that the socket failed, if it did. */
  readonly trouble: string | undefined;
  /** Whether the connection has ended, from either side. */
  readonly gone: boolean;
  /** Bytes that the socket itself has counted, the handshake included. */
  readonly socketBytes: { readonly sent: number; readonly received: number };

  /** Bytes on the wire besides those of a message of this length. */
  framing(length: number): number;
  /**
   * Writes one message. Returns true if `data` may be reused at once; otherwise `flushed`
   * is called when it may.
   */
  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean;
  /** Returns the bytes written. */
  writeAbort(error: ErrorData): number;
  /** A receive waits in the queue, so polling for its bytes is worthwhile. */
  expect(): void;
  /** Stops reading the socket, so that the peer must wait; or continues. */
  setPaused(paused: boolean): void;
  /** Reads and discards whatever still arrives after a failure, so that peers can end. */
  ignore(): void;
  /** Flush, then say that no more will come. */
  end(): void;
  destroy(): void;
}
