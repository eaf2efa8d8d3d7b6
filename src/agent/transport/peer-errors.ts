/** The errors of one rank about its peers, which name ranks and their machines. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { failure, GradwireError, toErrorData } from '../../shared/errors/errors.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { PeerConnection } from './peer-connection.ts';
import { PendingReceive, type PendingSend } from './pending-operation.ts';
import { rankName } from './rank-name.ts';

interface Parties {
  readonly rank: number;
  /** Addresses of all ranks, by rank. */
  readonly addresses: readonly Pick<RankAddress, 'node'>[];
  /** Time for which a rank may be silent, ms. */
  readonly silenceMs: number | undefined;
  /** Ranks reached through tunnels over SSH. */
  readonly tunnelled: ReadonlySet<number>;
}

export class PeerErrors {
  readonly #rank: number;
  readonly #addresses: Parties['addresses'];
  readonly #silenceMs: number | undefined;
  readonly #tunnelled: ReadonlySet<number>;

  constructor({ rank, addresses, silenceMs, tunnelled }: Parties) {
    this.#rank = rank;
    this.#addresses = addresses;
    this.#silenceMs = silenceMs;
    this.#tunnelled = tunnelled;
  }

  /** A rank that sends far more than is requested. */
  backlog(
    rank: number,
    kept: { readonly bytes: number; readonly memory: number },
  ): GradwireError {
    return failure(
      'FRAME_BACKLOG',
      `${this.#name(rank)} sent ${kept.bytes} bytes that nothing requested; keeping them takes ${kept.memory} bytes of memory`,
      {
        rank,
        next: 'The ranks are out of step. Report this with the log of the run.',
      },
    );
  }

  /** An operation that a peer has not completed by its deadline. */
  timeout(late: PendingReceive | PendingSend, timeoutMs: number): GradwireError {
    const what =
      late instanceof PendingReceive
        ? late.begun
          ? 'has not sent the rest of a message'
          : 'has not sent a message'
        : 'has not accepted a message';
    return failure(
      'PEER_TIMEOUT',
      `${this.#name(late.rank)} ${what} for ${timeoutMs / 1000} s, ` +
        `and ${this.#name(this.#rank)} gave up waiting`,
      {
        rank: late.rank,
        place: `stream ${late.header.stream}, exchange ${late.header.sequence}`,
        next: 'Check what that rank is doing, or raise patienceSeconds if it is only slow.',
      },
    );
  }

  /** A rank from which no sign of life has come. */
  unheard(rank: number): GradwireError {
    const limit =
      this.#silenceMs === undefined ? '' : ` within ${this.#silenceMs / 1000} s`;
    return failure(
      'PEER_SILENT',
      `${this.#name(rank)} sent ${this.#name(this.#rank)} no sign of life${limit}`,
      {
        ...this.#placeOf(rank),
        rank,
        next: `Its process may be suspended, its machine down, or the ${this.#tunnelled.has(rank) ? 'SSH tunnel between them broken' : 'link cut'}. If the machine is only overloaded, raise timeoutSeconds.`,
      },
    );
  }

  /** A peer whose connection has ended. */
  lost(peer: Pick<PeerConnection, 'rank' | 'trouble'>): GradwireError {
    if (this.#tunnelled.has(peer.rank)) return this.#tunnelLost(peer.rank);
    const how = peer.trouble === undefined ? '' : ` (${peer.trouble})`;
    return failure(
      'PEER_LOST',
      `${this.#name(peer.rank)} closed its connection to ${this.#name(this.#rank)}${how}`,
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
    const ends = [this.#rank, rank].toSorted((a, b) => a - b);
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
    return node === undefined ? {} : { place: machineTitle(node) };
  }
}

/** The cause, with the rank whose bytes led to it. */
export function codedFailure(cause: unknown, rank: number): GradwireError {
  if (cause instanceof GradwireError && cause.rank !== undefined) return cause;
  const place = `connection to rank ${rank}`;
  return new GradwireError({ place, ...toErrorData(cause), rank }, { cause });
}
