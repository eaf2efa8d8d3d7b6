/**
 * Building the full mesh: every rank dials the ranks below it and accepts those above it
 * (`dialsPeer` knows an exception), all at once. Done when each peer has proved that it
 * belongs to the run; an impostor is disconnected and the wait continues.
 */
import { connect as connectSocket, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { dialsPeer } from '../../shared/machines/rank-dialer.ts';
import { deriveKeys, type ConnectionKeys } from './connection-keys.ts';
import { accept, dial, unanswered } from './handshake.ts';
import type { Introduction, RunIdentity } from './handshake-proof.ts';
import { rankName } from './rank-name.ts';
import { Routes } from './routes.ts';
import type { TcpListener } from './tcp-listener.ts';

/** The text for a peer's `tunnel`. */
export const TUNNEL = 'a tunnel over SSH';

/** Time within which a new connection must authenticate. */
const HANDSHAKE_LIMIT_MS = 5000;

/**
 * The most calls to a peer that closes the connection without a word, and the pause between two.
 */
const MOST_CALLS = 20;
const CALL_AGAIN_MS = 100;

/** An established, authenticated connection; nothing beyond the handshake was read. */
export interface MeshLink {
  readonly peer: number;
  readonly socket: Socket;
  readonly role: 'dialer' | 'acceptor';
  /** Keys of the data after the handshake; default: it is not encrypted. */
  readonly keys: ConnectionKeys | undefined;
  /** Whether it goes through a tunnel over SSH. */
  readonly tunnelled?: boolean | undefined;
}

export interface MeshLinkOptions {
  readonly listener: TcpListener;
  readonly rank: number;
  /** Addresses at which each rank listens, by rank, this one included. */
  readonly addresses: readonly RankAddress[];
  readonly runId: string;
  /** 32 random bytes that only the ranks of this run know. */
  readonly secret: Uint8Array;
  /** Whether the data after the handshakes is encrypted; the same on all ranks. */
  readonly encrypt?: boolean | undefined;
  /** Time within which all peers must have connected. */
  readonly timeoutMs: number;
  /** Whether ranks of this machine are dialled on their Unix sockets. */
  readonly local?: boolean | undefined;
  readonly handshakeLimitMs?: number | undefined;
  /** Reports a peer reached at another address than its `host`, or through `TUNNEL`. */
  readonly routed?: ((peer: number, host: string) => void) | undefined;
}

/**
 * The links to all other ranks, of which there is at least one. Closes the listener
 * whatever happens; on failure nothing stays open.
 * @throws GradwireError `PEER_UNREACHABLE`, `PEER_UNAUTHENTICATED`, `PEER_TIMEOUT`
 */
export async function linkMesh(options: MeshLinkOptions): Promise<MeshLink[]> {
  const { listener, rank, addresses } = options;
  const size = addresses.length;
  const { runId, secret, encrypt: encrypted = false } = options;
  const run: RunIdentity = { runId, size, secret, encrypted };
  const links = new Map<number, MeshLink>();
  const sockets = new Set<Socket>();
  const refusals: string[] = [];
  let isOver = false;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();

  const own = (socket: Socket): void => {
    sockets.add(socket);
    // The reader of the socket sees its end; this handler only prevents a crash.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };
  const establish = (
    socket: Socket,
    introduction: Introduction,
    role: MeshLink['role'],
    tunnelled: boolean,
  ): void => {
    const peer = role === 'dialer' ? introduction.acceptor : introduction.dialer;
    const keys = encrypted ? deriveKeys(run, introduction, role) : undefined;
    links.set(peer, { peer, socket, role, keys, tunnelled });
    if (links.size === size - 1) resolve(undefined);
  };
  const welcome = async (socket: Socket): Promise<void> => {
    own(socket);
    const result = await accept(socket, run, rank, {
      limitMs: options.handshakeLimitMs ?? HANDSHAKE_LIMIT_MS,
      admit: (peer) =>
        peer !== rank && peer < size && !dials(rank, peer) && !links.has(peer),
    });
    if ('refused' in result) refusals.push(result.refused);
    else {
      listener.introduced(socket);
      const near = addresses[result.dialer]!.host === addresses[rank]!.host;
      establish(socket, result, 'acceptor', !near && comesFromHere(socket));
    }
  };
  /**
   * Opens a connection and owns it before it connects, because an attempt to reach an absent peer
   * may take minutes to fail.
   */
  const reach = (where: NetConnectOpts): Socket => {
    const socket = connectSocket(where);
    own(socket);
    return socket;
  };
  const dials = (caller: number, peer: number): boolean =>
    dialsPeer(addresses, caller, peer);
  const call = async (peer: number, host: string): Promise<Socket> => {
    const { port, local, tunnel } = addresses[peer]!;
    if (host === TUNNEL) {
      const socket = reach({ host: tunnel!.host, port: tunnel!.port, noDelay: true });
      await connected(socket, rankName(addresses, peer), peer, tunnel!);
      return socket;
    }
    // The same host means the same machine, and the same network namespace.
    const near = addresses[peer]!.host === addresses[rank]!.host;
    if (options.local === true && local !== undefined && near) {
      const socket = reach({ path: local });
      if (await opens(socket)) return socket;
    }
    const socket = reach({ host, port, noDelay: true });
    await connected(socket, rankName(addresses, peer), peer, {
      ...addresses[peer]!,
      host,
    });
    return socket;
  };
  const routes = new Map<number, Routes<readonly [Socket, Introduction]>>();
  const introduce = async (peer: number): Promise<void> => {
    const { host, hosts = [], tunnel } = addresses[peer]!;
    const ways = new Routes(
      [host, ...hosts],
      async (at) => {
        for (let calls = 1; calls <= MOST_CALLS && !isOver; calls++) {
          if (calls > 1) await pause(CALL_AGAIN_MS);
          const socket = await call(peer, at);
          const introduction = await dial(socket, run, rank, peer);
          if (introduction !== undefined) return [socket, introduction] as const;
        }
        throw unanswered(peer);
      },
      tunnel === undefined ? undefined : TUNNEL,
    );
    routes.set(peer, ways);
    const { host: taken, value } = await ways.find().catch((error: unknown) => {
      throw error ?? unreachable(addresses, rank, peer, ways.tried);
    });
    if (taken !== host) options.routed?.(peer, taken);
    establish(...value, 'dialer', taken === TUNNEL);
  };

  const timer = setTimeout(() => {
    const missing = [...addresses.keys()].filter(
      (peer) => peer !== rank && !links.has(peer),
    );
    const lost = missing.find((peer) => routes.get(peer)?.several === true);
    reject(
      lost === undefined
        ? absent(missing, addresses, options.timeoutMs, refusals, listener.trouble)
        : unreachable(addresses, rank, lost, routes.get(lost)!.tried),
    );
  }, options.timeoutMs);
  listener.attach((socket) => {
    welcome(socket).catch(reject);
  });
  for (const peer of addresses.keys()) {
    if (peer !== rank && dials(rank, peer)) introduce(peer).catch(reject);
  }
  try {
    await promise;
    const kept = new Set([...links.values()].map((link) => link.socket));
    for (const socket of sockets) if (!kept.has(socket)) socket.destroy();
    return [...links.values()];
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    listener.close();
  }
}

/** The error for a peer with several addresses, none of which works. */
const unreachable = (
  addresses: readonly RankAddress[],
  rank: number,
  peer: number,
  tried: string,
): GradwireError =>
  failure(
    'PEER_UNREACHABLE',
    `${rankName(addresses, peer)} cannot be reached from ${rankName(addresses, rank)}; ` +
      `tried port ${addresses[peer]!.port} of ${tried}`,
    {
      rank: peer,
      next:
        'Set an address that the other machine can reach (gradwire nodes edit NAME --address), ' +
        'or open ports in its firewall and name them (--ports).',
    },
  );

/**
 * Whether a connection was made by a process on this machine. For a rank on another one, that is
 * the end of a tunnel.
 */
const comesFromHere = ({ remoteAddress, localAddress }: Socket): boolean =>
  remoteAddress !== undefined && remoteAddress === localAddress;

/** Whether this attempt connects; if not, the next is tried. */
function opens(socket: Socket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const failed = (): void => {
    resolve(false);
  };
  socket.once('error', failed);
  socket.once('connect', () => {
    socket.off('error', failed);
    resolve(true);
  });
  return promise;
}

function connected(
  socket: Socket,
  name: string,
  peer: number,
  address: Pick<RankAddress, 'host' | 'port'>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const failed = (cause: NodeJS.ErrnoException): void => {
    reject(
      new GradwireError(
        {
          code: 'PEER_UNREACHABLE',
          kind: 'failure',
          message:
            `${name} cannot be reached at ${hostAndPort(address.host, address.port)}` +
            ` (${cause.code ?? cause.message})`,
          rank: peer,
          next: `Check that the process of ${name} is running and that no firewall blocks it.`,
        },
        { cause },
      ),
    );
  };
  socket.once('error', failed);
  socket.once('connect', () => {
    socket.off('error', failed);
    resolve(undefined);
  });
  return promise;
}

function absent(
  ranks: readonly number[],
  addresses: readonly RankAddress[],
  timeoutMs: number,
  refusals: readonly string[],
  trouble: string | undefined,
): GradwireError {
  const isSpread = addresses[ranks[0]!]?.node !== undefined;
  const who =
    ranks.length === 1 || isSpread
      ? ranks.map((rank) => rankName(addresses, rank)).join(', ')
      : `ranks ${ranks.join(', ')}`;
  const last = refusals.at(-1);
  const refused =
    last === undefined
      ? ''
      : `; refused connections: ${refusals.length}; the last one ${last}`;
  const lost =
    trouble === undefined ? '' : `; the operating system reported ${trouble}`;
  return failure(
    'PEER_TIMEOUT',
    `${who} did not connect within ${timeoutMs / 1000} s${refused}${lost}`,
    { rank: ranks[0], next: `Read the log of ${who}.` },
  );
}
