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
import { GradwireError, failure, toErrorData } from '../../shared/errors/errors.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { ACCEPTOR_BYTES, DIALER_BYTES } from './handshake.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { MeshLink } from './mesh-links.ts';
import type { BacklogLimits, PeerConnection, PeerEvents } from './peer-connection.ts';
import { rankName } from './rank-name.ts';
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
  readonly #addresses: readonly Pick<RankAddress, 'node'>[];
  readonly #timeoutMs: number;
  readonly #silenceMs: number | undefined;
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
  /** Ranks reached through tunnels over SSH. */
  readonly #tunnelled: ReadonlySet<number>;
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
    this.#addresses = options.addresses ?? [];
    this.#timeoutMs = options.timeoutMs;
    this.#observer = options.observer;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#silenceMs = options.silenceMs;
    this.#whenClosed = options.whenClosed;
    const tunnels = links.filter(({ tunnelled }) => tunnelled === true);
    this.#tunnelled = new Set(tunnels.map(({ peer }) => peer));
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
    if (peer.gone) return this.#refuse(this.#lost(peer));
    if (this.#silent.has(to)) return this.#refuse(this.#unheard(to));
    const operation = new PendingSend(to, header);
    operation.postedAt = this.#tick;
    if (this.#observer?.traces === true) {
      this.#observer.sending?.(to, header, data.length);
    }
    const end = this.#work('send', header.stream);
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
    if (this.#concerns(rank)) this.#fail(this.#unheard(rank), true);
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
    if (peer.gone) this.#fail(this.#lost(peer), true);
    else if (this.#silent.has(peer.rank)) this.#fail(this.#unheard(peer.rank), true);
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
        failure(
          'FRAME_BACKLOG',
          `${this.#name(peer.rank)} sent ${keptBytes} bytes that nothing requested; keeping them takes ${keptMemory} bytes of memory`,
          {
            rank: peer.rank,
            next: 'The ranks are out of step. Report this with the log of the run.',
          },
        ),
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
    const what =
      late instanceof PendingReceive
        ? late.begun
          ? 'has not sent the rest of a message'
          : 'has not sent a message'
        : 'has not accepted a message';
    this.#fail(
      failure(
        'PEER_TIMEOUT',
        `${this.#name(late.rank)} ${what} for ${this.#timeoutMs / 1000} s, ` +
          `and ${this.#name(this.rank)} gave up waiting`,
        {
          rank: late.rank,
          place: `stream ${late.header.stream}, exchange ${late.header.sequence}`,
          next: 'Check what that rank is doing, or raise patienceSeconds if it is only slow.',
        },
      ),
      true,
    );
  }

  #gone(peer: PeerConnection): void {
    if (this.#concerns(peer.rank)) this.#fail(this.#lost(peer), true);
  }

  /** Whether anything is expected from the rank. */
  #concerns(rank: number): boolean {
    return this.#receives.concerns(rank) || this.#sends.concerns(rank);
  }

  #unheard(rank: number): GradwireError {
    const limit =
      this.#silenceMs === undefined ? '' : ` within ${this.#silenceMs / 1000} s`;
    return failure(
      'PEER_SILENT',
      `${this.#name(rank)} sent ${this.#name(this.rank)} no sign of life${limit}`,
      {
        ...this.#placeOf(rank),
        rank,
        next: `Its process may be suspended, its machine down, or the ${this.#tunnelled.has(rank) ? 'SSH tunnel between them broken' : 'link cut'}. If the machine is only overloaded, raise timeoutSeconds.`,
      },
    );
  }

  #lost(peer: PeerConnection): GradwireError {
    if (this.#tunnelled.has(peer.rank)) return this.#tunnelLost(peer.rank);
    const how = peer.trouble === undefined ? '' : ` (${peer.trouble})`;
    return failure(
      'PEER_LOST',
      `${this.#name(peer.rank)} closed its connection to ${this.#name(this.rank)}${how}`,
      {
        ...this.#placeOf(peer.rank),
        rank: peer.rank,
        next: `Read the log of ${this.#name(peer.rank)}: its process may have been killed.`,
      },
    );
  }

  /**
   * The error for a lost tunnel. Where a process ended instead, its machine reports that, and that
   * report counts.
   */
  #tunnelLost(rank: number): GradwireError {
    const ends = [this.rank, rank].toSorted((a, b) => a - b);
    const [one, other] = ends.map((end) => this.#name(end));
    return failure(
      'PEER_LOST',
      `the SSH tunnel between ${one} and ${other} was closed`,
      {
        next:
          'It leads through the computer that launched the run, which has ended the command or ' +
          'the app, or lost its connection to one of the machines. If a rank’s process was ' +
          'killed instead, the log of its machine says so.',
      },
    );
  }

  #name(rank: number): string {
    return rankName(this.#addresses, rank);
  }

  #placeOf(rank: number): { readonly place?: string } {
    const node = this.#addresses[rank]?.node;
    return node === undefined ? {} : { place: node };
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

/** The cause, with the rank whose bytes led to it. */
function codedFailure(cause: unknown, rank: number): GradwireError {
  if (cause instanceof GradwireError && cause.rank !== undefined) return cause;
  const place = `connection to rank ${rank}`;
  return new GradwireError({ place, ...toErrorData(cause), rank }, { cause });
}
