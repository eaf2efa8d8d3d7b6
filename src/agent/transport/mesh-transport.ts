/**
 * The transport over a full mesh of connections, one per pair of ranks, of any kind
 * (`tcp-connection.ts`, `native-connection.ts`): deadlines, failures, counters and
 * reports to the observer.
 *
 * A collective that has lost one message cannot continue: the first failure (a peer lost
 * while something was expected from it, a deadline, an unexpected frame) fails everything
 * pending and everything later with one error, and is sent to every peer, so that all
 * ranks name the same cause.
 * Upholds invariant I8 (docs/architecture.md).
 */
import { GradwireError, failure } from '../../shared/errors/errors.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { ACCEPTOR_BYTES, DIALER_BYTES } from './handshake.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { MeshLink } from './mesh-links.ts';
import type { BacklogLimits, PeerConnection, PeerEvents } from './peer-connection.ts';
import { codedFailure, PeerErrors } from './peer-errors.ts';
import { PendingList, PendingSend, PendingReceive } from './pending-operation.ts';
import type {
  MessageHeader,
  Transport,
  TransportObserver,
  WireCounters,
} from './transport.ts';
import { WaitingState } from './waiting-state.ts';

/** Time for which `close` waits for peers that do not close their side. */
const LINGER_MS = 1000;
/** The deadline timer's ticks per deadline: a deadline is late by at most one tick. */
const TICKS_PER_DEADLINE = 16;

const DEFAULT_LIMITS: BacklogLimits = {
  pauseBytes: 256 * 2 ** 20,
  failBytes: 1024 * 2 ** 20,
};

const DONE = Promise.resolve();

export interface MeshTransportOptions {
  readonly rank: number;
  readonly size: number;
  /** Addresses of all ranks, by rank: errors name the machines of a run over several. */
  readonly addresses?: readonly Pick<RankAddress, 'node'>[] | undefined;
  /** Deadline of every send and receive, from when it is posted. */
  readonly timeoutMs: number;
  readonly observer?: TransportObserver | undefined;
  readonly limits?: BacklogLimits | undefined;
  /** Time for which a rank may be silent, ms; only used in messages. */
  readonly silenceMs?: number | undefined;
  /** Part of `close`. */
  readonly whenClosed?: (() => Promise<void>) | undefined;
}

/** Makes the connection of one rank with one peer; owns the link's socket from then on. */
export type Connect = (
  rank: number,
  link: MeshLink,
  events: PeerEvents,
) => PeerConnection;

export class MeshTransport implements Transport {
  readonly rank: number;
  readonly size: number;
  readonly #timeoutMs: number;
  readonly #observer: TransportObserver | undefined;
  readonly #limits: BacklogLimits;
  /** Connections by rank; undefined at this rank. */
  readonly #peers: (PeerConnection | undefined)[];
  readonly #receives = new PendingList<PendingReceive>();
  readonly #sends = new PendingList<PendingSend>();
  readonly #waiting: WaitingState;
  readonly #timer: NodeJS.Timeout | undefined;
  /**
   * Counts the deadline timer's firings: a clock that stops while this thread computes,
   * so that a peer is not blamed for this rank's delay.
   */
  #tick = 0;
  readonly #silent = new Set<number>();
  readonly #errors: PeerErrors;
  readonly #whenClosed: (() => Promise<void>) | undefined;
  #failure: GradwireError | undefined;
  #closing: Promise<void> | undefined;
  #sent = 0;
  #received = 0;
  #framingSent = 0;
  #framingReceived = 0;

  /**
   * @param links the established connections of the mesh, owned from here on, and closed
   * also if `connect` throws.
   */
  constructor(
    options: MeshTransportOptions,
    links: readonly MeshLink[],
    connect: Connect,
  ) {
    this.rank = options.rank;
    this.size = options.size;
    this.#timeoutMs = options.timeoutMs;
    this.#observer = options.observer;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#whenClosed = options.whenClosed;
    const tunnels = links.filter(({ tunnelled }) => tunnelled === true);
    this.#errors = new PeerErrors({
      rank: options.rank,
      addresses: options.addresses ?? [],
      silenceMs: options.silenceMs,
      tunnelled: new Set(tunnels.map(({ peer }) => peer)),
    });
    this.#waiting = new WaitingState(options.size, options.observer);
    this.#peers = Array.from({ length: options.size }, () => undefined);
    using unfinished = new DisposableStack();
    unfinished.defer(() => {
      for (const { peer, socket } of links) {
        this.#peers[peer]?.destroy();
        socket.destroy();
      }
    });
    for (const link of links) {
      const { peer, role } = link;
      const sent = role === 'dialer' ? DIALER_BYTES : ACCEPTOR_BYTES;
      const received = role === 'dialer' ? ACCEPTOR_BYTES : DIALER_BYTES;
      this.#sent += sent;
      this.#framingSent += sent;
      this.#received += received;
      this.#framingReceived += received;
      this.#peers[peer] = connect(this.rank, link, {
        reading: () => this.#work('receive'),
        read: (connection) => {
          this.#regulate(connection);
          this.#updateWaiting();
        },
        delivered: (receive) => {
          this.#delivered(receive);
        },
        aborted: (reason, bodyBytes) => {
          const bytes = this.#peer(peer).framing(bodyBytes) + bodyBytes;
          this.#received += bytes;
          this.#framingReceived += bytes;
          this.#fail(reason, false);
        },
        broken: (_connection, cause) => {
          this.#fail(codedFailure(cause, peer), true);
        },
        gone: (connection) => {
          this.#gone(connection);
        },
      });
    }
    unfinished.move();
    if (links.length > 0) {
      this.#timer = setInterval(
        () => {
          this.#tick++;
          this.#checkDeadlines();
        },
        Math.max(5, options.timeoutMs / TICKS_PER_DEADLINE),
      );
    }
  }

  get counters(): WireCounters {
    return {
      sent: this.#sent,
      received: this.#received,
      framingSent: this.#framingSent,
      framingReceived: this.#framingReceived,
    };
  }

  /**
   * Bytes that the sockets themselves have counted. Equal to `counters` whenever nothing is queued,
   * in flight or kept: the other side of the byte ledger.
   */
  get socketBytes(): { readonly sent: number; readonly received: number } {
    let sent = 0;
    let received = 0;
    for (const peer of this.#peers) {
      if (peer === undefined) continue;
      sent += peer.socketBytes.sent;
      received += peer.socketBytes.received;
    }
    return { sent, received };
  }

  send(to: number, header: MessageHeader, data: Uint8Array): Promise<void> {
    const peer = this.#peer(to);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (peer.gone) return this.#refuse(this.#errors.lost(peer));
    if (this.#silent.has(to)) return this.#refuse(this.#errors.unheard(to));
    const operation = new PendingSend(to, header);
    operation.postedAt = this.#tick;
    const end = this.#work('send', header.stream);
    // Its moment lies in the span of sending it, not in what was before.
    this.#observer?.sending?.(to, header, data.length);
    const taken = peer.write(header, data, () => {
      if (operation.ended) return;
      this.#sends.remove(operation);
      operation.complete();
      this.#updateWaiting();
    });
    end();
    const framing = peer.framing(data.length);
    this.#sent += framing + data.length;
    this.#framingSent += framing;
    if (taken) {
      operation.complete();
      return DONE;
    }
    this.#sends.append(operation);
    this.#updateWaiting();
    return operation.promise;
  }

  receive(from: number, header: MessageHeader, into: Uint8Array): Promise<void> {
    const { length } = into;
    const received: Promise<unknown> = this.#post(
      new PendingReceive(from, header, length, length, () => into),
    );
    // Its length is known: another promise, of nothing, would only take time.
    return received as Promise<void>;
  }

  receiveSized(
    from: number,
    header: MessageHeader,
    maximum: number,
    place: (length: number) => Uint8Array,
  ): Promise<number> {
    return this.#post(new PendingReceive(from, header, undefined, maximum, place));
  }

  /** Ranks that are currently silent. */
  get silent(): ReadonlySet<number> {
    return this.#silent;
  }

  /**
   * A rank has fallen silent, or is heard again. As long as nothing is expected from it,
   * silence is not an error.
   */
  setSilent(rank: number, silent: boolean): void {
    if (!silent) {
      this.#silent.delete(rank);
      return;
    }
    this.#silent.add(rank);
    if (this.#concerns(rank)) this.#fail(this.#errors.unheard(rank), true);
  }

  abort(error: ErrorData): void {
    this.#fail(error instanceof GradwireError ? error : new GradwireError(error), true);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #post(receive: PendingReceive): Promise<number> {
    const peer = this.#peer(receive.rank);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    receive.postedAt = this.#tick;
    this.#receives.append(receive);
    try {
      peer.queue.post(receive);
    } catch (cause) {
      this.#fail(codedFailure(cause, peer.rank), true);
    }
    if (receive.ended) return receive.promise;
    if (peer.gone) this.#fail(this.#errors.lost(peer), true);
    else if (this.#silent.has(peer.rank))
      this.#fail(this.#errors.unheard(peer.rank), true);
    else {
      this.#regulate(peer);
      peer.expect();
    }
    this.#updateWaiting();
    return receive.promise;
  }

  #peer(rank: number): PeerConnection {
    const peer = this.#peers[rank];
    if (peer === undefined) throw new Error(`internal: no peer of rank ${rank}`);
    return peer;
  }

  #delivered(receive: PendingReceive): void {
    this.#receives.remove(receive);
    if (this.#observer?.traces === true) {
      this.#observer.delivered?.(receive.rank, receive.header, receive.received);
    }
    const framing = this.#peer(receive.rank).framing(receive.received);
    this.#received += framing + receive.received;
    this.#framingReceived += framing;
  }

  #regulate(peer: PeerConnection): void {
    const { keptBytes, keptMemory } = peer.queue;
    if (keptMemory > this.#limits.failBytes) {
      this.#fail(
        this.#errors.backlog(peer.rank, { bytes: keptBytes, memory: keptMemory }),
        true,
      );
      return;
    }
    const full = keptMemory > this.#limits.pauseBytes;
    // The awaited message may follow those that are kept; then reading continues.
    peer.setPaused(full && !this.#receives.concerns(peer.rank));
  }

  #checkDeadlines(): void {
    // A tick may fire right after posting, so one more is added.
    const oldest = this.#tick - TICKS_PER_DEADLINE - 1;
    const receive = this.#receives.first;
    const send = this.#sends.first;
    const late =
      receive !== undefined && receive.postedAt <= oldest
        ? receive
        : send !== undefined && send.postedAt <= oldest
          ? send
          : undefined;
    if (late === undefined) return;
    this.#fail(this.#errors.timeout(late, this.#timeoutMs), true);
  }

  #gone(peer: PeerConnection): void {
    if (this.#concerns(peer.rank)) this.#fail(this.#errors.lost(peer), true);
  }

  /** Whether anything is expected from the rank. */
  #concerns(rank: number): boolean {
    return this.#receives.concerns(rank) || this.#sends.concerns(rank);
  }

  #refuse(error: GradwireError): Promise<never> {
    this.#fail(error, true);
    return Promise.reject(this.#failure ?? error);
  }

  #fail(error: GradwireError, tell: boolean): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const peer of this.#peers) {
      if (peer === undefined) continue;
      if (tell) {
        const bytes = peer.writeAbort(error);
        this.#sent += bytes;
        this.#framingSent += bytes;
      }
      peer.ignore();
    }
    for (const receive of this.#receives.drain()) receive.fail(error);
    for (const send of this.#sends.drain()) send.fail(error);
    this.#updateWaiting();
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    // Peers are not told: to them this rank has simply left.
    this.#fail(failure('ABORTED', `rank ${this.rank} has closed its transport`), false);
    const open = this.#peers.filter((peer) => peer !== undefined);
    for (const peer of open) peer.end();
    const linger = setTimeout(() => {
      for (const peer of open) peer.destroy();
    }, LINGER_MS);
    await Promise.all(open.map((peer) => peer.closed));
    clearTimeout(linger);
    await this.#whenClosed?.();
  }

  #work(kind: 'send' | 'receive', stream?: number): () => void {
    return this.#observer === undefined
      ? nothing
      : this.#observer.working(kind, stream);
  }

  #updateWaiting(): void {
    this.#waiting.update(this.#receives.first, this.#sends.first);
  }
}

function nothing(): void {
  // Without an observer nothing is reported.
}
