/**
 * Messages between only two ranks, a worker and a server: unlike in a collective, each pair
 * has its own numbering. The byte ledger counts everything sent and received.
 */
import type { MessageLedger } from '../collectives/communicator.ts';
import type { MessageHeader, Transport } from '../transport/transport.ts';

export interface LineOptions {
  readonly transport: Transport;
  readonly ledger: MessageLedger;
  /** The current epoch, which every header carries. */
  readonly epoch: () => number;
}

/** Streams of the transport, below those of buckets. */
export const ORDER_STREAM = 4;
export const SHARE_STREAM = 5;
export const REPLY_STREAM = 6;
export const PULL_STREAM = 7;
export const MEET_STREAM = 8;

/** The kind in headers; not used by any collective. */
const OPERATION = 1010;

export class PeerLine {
  readonly #options: LineOptions;
  readonly #peer: number;
  /** Messages sent so far, by stream. */
  readonly #sent = new Map<number, number>();
  readonly #received = new Map<number, number>();

  constructor(peer: number, options: LineOptions) {
    this.#peer = peer;
    this.#options = options;
  }

  /** Resolves when `data` may be reused. @throws the transport's errors */
  send(stream: number, data: Uint8Array): Promise<void> {
    const { ledger, transport } = this.#options;
    ledger.handed(data.length);
    return transport.send(this.#peer, this.#header(stream, this.#sent), data);
  }

  /** Receives exactly this many bytes. @throws the transport's errors */
  async receive(stream: number, into: Uint8Array): Promise<void> {
    const { ledger, transport } = this.#options;
    await transport.receive(this.#peer, this.#header(stream, this.#received), into);
    ledger.consumed(into.length);
  }

  #header(stream: number, counted: Map<number, number>): MessageHeader {
    const sequence = counted.get(stream) ?? 0;
    // The frame has 32 bits for it.
    counted.set(stream, (sequence + 1) >>> 0);
    const epoch = this.#options.epoch();
    return { stream, sequence, epoch, operation: OPERATION, dtype: 0 };
  }
}
