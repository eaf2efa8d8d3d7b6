/**
 * The mesh's second step: `listenTcp` gave an address to tell to the other ranks; knowing
 * theirs, `connectMesh` connects to them all. Ranks need not agree on what carries their
 * side of a connection: the bytes are the same.
 */
import { availableParallelism } from 'node:os';
import type { Libc } from './libc.ts';
import { linkMesh, type MeshLinkOptions } from './mesh-links.ts';
import { MeshTransport, type Connect } from './mesh-transport.ts';
import { NativeConnection, SocketScratch } from './native-connection.ts';
import type { BacklogLimits } from './peer-connection.ts';
import { ProgressLoop } from './progress-loop.ts';
import { SpinPause } from './spin-pause.ts';
import { takeOver } from './socket-takeover.ts';
import { TcpConnection } from './tcp-connection.ts';
import type { TcpListener } from './tcp-listener.ts';
import type { TransportObserver } from './transport.ts';

export interface MeshOptions extends Omit<MeshLinkOptions, 'listener' | 'local'> {
  /** Owned by the call: it is closed once the mesh stands. Needless in a world of one. */
  readonly listener?: TcpListener | undefined;
  /** Deadline of the mesh, then of every send and receive. */
  readonly timeoutMs: number;
  /** The native transport, on these sockets; absent: `tcp`, on `node:net`. */
  readonly libc?: Libc | undefined;
  /** How long the native transport looks again before it sleeps, ms. Absent: a moment. */
  readonly spinMs?: number | undefined;
  /** The ranks on this machine; absent: those at this rank's host. */
  readonly here?: readonly number[] | undefined;
  readonly observer?: TransportObserver | undefined;
  readonly limits?: BacklogLimits | undefined;
}

/** About what a sleeping thread takes to wake, with what its peer takes to wake first. */
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
  const links =
    listener === undefined || size === 1
      ? []
      : await linkMesh({ ...options, listener, local: libc !== undefined });
  if (size === 1) listener?.close();
  const connect = libc === undefined ? connectTcp : native(libc, options);
  return new MeshTransport({ rank, size, timeoutMs, observer, limits }, links, connect);
}

const connectTcp: Connect = (rank, link, events) =>
  new TcpConnection(rank, link, events);

function native(libc: Libc, options: MeshOptions): Connect {
  const { rank, addresses, spinMs = SPIN_MS } = options;
  const { host } = addresses[rank]!;
  const here =
    options.here ??
    [...addresses.keys()].filter((peer) => addresses[peer]!.host === host);
  const crowded = here.length > availableParallelism();
  const pause = new SpinPause(libc, crowded ? undefined : here.indexOf(rank));
  const loop = new ProgressLoop(spinMs, pause);
  const scratch = new SocketScratch(libc);
  return (own, link, events) => {
    const taken = takeOver(link.socket, libc);
    return new NativeConnection(own, link, taken, events, loop, scratch);
  };
}
