/**
 * The byte ledger: bytes that the codecs produced for the wire, bytes handed to the transport
 * and bytes counted at the sockets must be the same, framing aside. Sent bytes balance in
 * every exchange. Received bytes balance once all is consumed, because a faster peer's next
 * message may already be in our socket. Messages that only measure the run are excluded: they
 * belong to no exchange.
 */
import type { WireCounters } from '../transport/transport.ts';

export interface LedgerLine {
  readonly wireSent: number;
  readonly wireReceived: number;
  readonly framingSent: number;
  readonly framingReceived: number;
  /**
   * Difference in bytes between what was handed over and what sockets sent; 0 is correct.
   */
  readonly imbalance: number;
}

export class ByteLedger {
  #last: WireCounters;
  #handedTotal = 0;
  #handed = 0;
  #consumedTotal = 0;
  /** Bytes set aside since the last line. */
  #aside = { sent: 0, framingSent: 0, consumed: 0 };
  readonly #first: WireCounters;

  constructor(counters: WireCounters) {
    this.#first = { ...counters };
    this.#last = { ...counters };
  }

  /** Bytes handed to the transport by a collective, framing excluded. */
  handed(bytes: number): void {
    this.#handed += bytes;
    this.#handedTotal += bytes;
  }

  /** Bytes that a collective took from the transport, framing excluded. */
  consumed(bytes: number): void {
    this.#consumedTotal += bytes;
  }

  /**
   * Excludes what follows as measuring, until the returned function is called with the
   * counters at that time.
   */
  setAside({ sent, framingSent }: WireCounters): (counters: WireCounters) => void {
    const [handed, consumed] = [this.#handed, this.#consumedTotal];
    return (counters) => {
      this.#aside.sent += counters.sent - sent;
      this.#aside.framingSent += counters.framingSent - framingSent;
      this.#aside.consumed += this.#consumedTotal - consumed;
      this.#handed = handed;
    };
  }

  /** Closes an exchange: the wire bytes since the last line. */
  close(counters: WireCounters): LedgerLine {
    const last = this.#last;
    const aside = this.#aside;
    const wireSent = counters.sent - last.sent - aside.sent;
    const framingSent = counters.framingSent - last.framingSent - aside.framingSent;
    const line = {
      wireSent,
      wireReceived: counters.received - last.received - aside.consumed,
      framingSent,
      framingReceived: counters.framingReceived - last.framingReceived,
      imbalance: wireSent - framingSent - this.#handed,
    };
    this.#last = { ...counters };
    this.#handed = 0;
    this.#aside = { sent: 0, framingSent: 0, consumed: 0 };
    return line;
  }

  /** Imbalance of sent and received bytes over the whole run, once nothing is in flight. */
  totals(counters: WireCounters): { sent: number; received: number } {
    const first = this.#first;
    const sent = counters.sent - first.sent - counters.framingSent + first.framingSent;
    const received =
      counters.received -
      first.received -
      counters.framingReceived +
      first.framingReceived;
    return { sent: sent - this.#handedTotal, received: received - this.#consumedTotal };
  }
}
