/**
 * The mesh's second step: `listenTcp` returned an address to send to the other ranks;
 * with theirs, `connectMesh` connects to all of them. The two sides of a connection may
 * use different transports: the bytes are the same.
 */
import { availableParallelism } from 'node:os';
import type { EmulatedNetwork } from '../../shared/machines/emulated-network.ts';
import { failure } from '../../shared/errors/errors.ts';
import type { CardTimer } from '../emulation/emulated-card.ts';
import { EventLoopTimer } from '../emulation/event-loop-timer.ts';
import { RankCards } from '../emulation/rank-cards.ts';
import type { Libc } from './libc.ts';
import { linkMesh, type MeshLink, type MeshLinkOptions } from './mesh-links.ts';
import { MeshTransport, type Connect } from './mesh-transport.ts';
import { NativeConnection } from './native-connection.ts';
import type { BacklogLimits } from './peer-connection.ts';
import { ProgressLoop } from './progress-loop.ts';
import type { Pulse } from './pulse.ts';
import { rankName } from './rank-name.ts';
import { SpinPause } from './spin-pause.ts';
import { SocketScratch } from './socket-scratch.ts';
import { takeOver } from './socket-takeover.ts';
import { TcpConnection } from './tcp-connection.ts';
import type { TcpListener } from './tcp-listener.ts';
import type { TransportObserver } from './transport.ts';

export interface MeshOptions extends Omit<MeshLinkOptions, 'listener' | 'local'> {
  /**
   * Listener, which the call owns, and closes once the mesh is connected. Not needed in a world of
   * one.
   */
  readonly listener?: TcpListener | undefined;
  /** Deadline of every send and receive. */
  readonly timeoutMs: number;
  /** Time within which all must have connected; default: `timeoutMs`. */
  readonly connectMs?: number | undefined;
  /**
   * Exchanges heartbeats; owned by the call, then by the transport. Default: none are
   * exchanged.
   */
  readonly pulse?: Pulse | undefined;
  /** Time for which a rank that is watched may be silent; default: 3 s. */
  readonly silenceMs?: number | undefined;
  /** The native transport, on these sockets; default: `tcp`, on `node:net`. */
  readonly libc?: Libc | undefined;
  /** Time for which the native transport polls before it sleeps, ms. Default: a moment. */
  readonly spinMs?: number | undefined;
  /** The ranks on this machine; default: those at this rank's host. */
  readonly here?: readonly number[] | undefined;
  /** An emulated network, the same on all ranks; default: the real one. */
  readonly network?: EmulatedNetwork | undefined;
  /**
   * The name of each rank's node, for an emulated network; ranks of one have the same clock.
   * Default: all are on one.
   */
  readonly nodes?: readonly string[] | undefined;
  readonly observer?: TransportObserver | undefined;
  readonly limits?: BacklogLimits | undefined;
}

const SILENCE_MS = 3000;
/** Time that a sleeping thread and its peer take to wake, one after the other, ms. */
const SPIN_MS = 0.1;

/**
 * The transport of one rank, connected to all others.
 * @throws GradwireError `PEER_UNREACHABLE`, `PEER_UNAUTHENTICATED`, `PEER_TIMEOUT`,
 * `NATIVE_UNAVAILABLE`
 */
export async function connectMesh(options: MeshOptions): Promise<MeshTransport> {
  const { listener, rank, timeoutMs, observer, limits, libc } = options;
  const size = options.addresses.length;
  if (listener === undefined && size > 1) throw new Error('internal: no listener');
  const { silenceMs = SILENCE_MS, pulse } = options;
  if (listener === undefined || size === 1) {
    listener?.close();
    await pulse?.close();
    return new MeshTransport({ rank, size, timeoutMs, observer }, [], tcp(undefined));
  }
  try {
    const links = await linkWatched({ ...options, listener });
    const { network, nodes } = options;
    const moments = new EventLoopTimer(libc && ((): void => libc.yield()));
    const timer = (turn: () => void): CardTimer => moments.appointment(turn);
    const cards = network && new RankCards({ network, rank, nodes, timer });
    const connect = libc === undefined ? tcp(cards) : native(libc, options, cards);
    const whenClosed = pulse && (() => pulse.close());
    const { addresses } = options;
    const more = { addresses, observer, limits, silenceMs, whenClosed };
    const transport = new MeshTransport(
      { rank, size, timeoutMs, ...more },
      links,
      connect,
    );
    pulse?.follow((peer, silent) => {
      transport.setSilent(peer, silent);
    });
    return transport;
  } catch (error) {
    await pulse?.close();
    throw error;
  }
}

/** The links of the mesh, with all peers watched; on failure nothing stays open. */
async function linkWatched(
  options: MeshOptions & { readonly listener: TcpListener },
): Promise<MeshLink[]> {
  const { libc, timeoutMs: otherwise, pulse } = options;
  const { connectMs: timeoutMs = otherwise } = options;
  const linking = linkMesh({ ...options, local: libc !== undefined, timeoutMs });
  // Without links there are no peers to watch or wait for.
  linking.catch(() => pulse?.close());
  const [linked, watched] = await Promise.allSettled([
    linking,
    pulse && watchAll(pulse, { ...options, timeoutMs }),
  ]);
  if (linked.status === 'rejected') throw linked.reason;
  if (watched.status === 'fulfilled') return linked.value;
  for (const { socket } of linked.value) socket.destroy();
  throw watched.reason;
}

/**
 * @throws GradwireError `PEER_UNREACHABLE` if a rank has no pulse, and those of
 * `linkMesh`
 */
async function watchAll(pulse: Pulse, options: MeshOptions): Promise<void> {
  const { rank, runId, secret, timeoutMs, silenceMs = SILENCE_MS } = options;
  const addresses = options.addresses.map((address, peer) => {
    const { pulse: port, tunnel } = address;
    if (port !== undefined) {
      const entrance =
        tunnel?.pulse === undefined ? undefined : { ...tunnel, port: tunnel.pulse };
      return {
        ...address,
        port,
        pulse: undefined,
        local: undefined,
        tunnel: entrance,
      };
    }
    throw failure(
      'PEER_UNREACHABLE',
      `${rankName(options.addresses, peer)} named no port for heartbeats`,
      {
        rank: peer,
        next: 'Deploy the same version of the agent on every machine.',
      },
    );
  });
  await pulse.begin({ rank, addresses, runId, secret, timeoutMs, silenceMs });
}

const tcp =
  (cards: RankCards | undefined): Connect =>
  (rank, link, events) =>
    new TcpConnection(rank, link, events, cards?.to(link.peer));

function native(
  libc: Libc,
  options: MeshOptions,
  cards: RankCards | undefined,
): Connect {
  // Messages of an emulated link become due after they arrive, so polling gains nothing.
  const { rank, addresses, spinMs = cards === undefined ? SPIN_MS : 0 } = options;
  const { host } = addresses[rank]!;
  const here =
    options.here ??
    [...addresses.keys()].filter((peer) => addresses[peer]!.host === host);
  const crowded = here.length > availableParallelism();
  const pause = new SpinPause(libc, crowded ? undefined : here.indexOf(rank));
  const loop = new ProgressLoop(spinMs, pause);
  const scratch = new SocketScratch(libc);
  if (cards !== undefined) libc.fineTimers();
  return (own, link, events) => {
    const taken = takeOver(link.socket, libc);
    const card = cards?.to(link.peer);
    return new NativeConnection(own, link, taken, events, loop, scratch, card);
  };
}
