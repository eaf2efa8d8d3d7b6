/**
 * The `tcp` transport's second step: `listenTcp` gave an address to tell to the other
 * ranks; knowing theirs, `connectMesh` connects to them all.
 */
import { linkMesh, type MeshLinkOptions } from './mesh-links.ts';
import type { BacklogLimits } from './peer-connection.ts';
import type { TcpListener } from './tcp-listener.ts';
import { TcpTransport } from './tcp-transport.ts';
import type { TransportObserver } from './transport.ts';

export interface MeshOptions extends Omit<MeshLinkOptions, 'listener'> {
  /** Owned by the call: it is closed once the mesh stands. Needless in a world of one. */
  readonly listener?: TcpListener | undefined;
  /** Deadline of the mesh, then of every send and receive. */
  readonly timeoutMs: number;
  readonly observer?: TransportObserver | undefined;
  readonly limits?: BacklogLimits | undefined;
}

/**
 * The transport of one rank, connected to all others.
 * @throws GradwireError `PEER_UNREACHABLE`, `PEER_UNAUTHENTICATED`, `PEER_TIMEOUT`
 */
export async function connectMesh(options: MeshOptions): Promise<TcpTransport> {
  const { listener, rank, timeoutMs, observer, limits } = options;
  const size = options.addresses.length;
  if (listener === undefined && size > 1) throw new Error('internal: no listener');
  const links =
    listener === undefined || size === 1
      ? []
      : await linkMesh({ ...options, listener });
  if (size === 1) listener?.close();
  return new TcpTransport({ rank, size, timeoutMs, observer, limits }, links);
}
