/**
 * The bare descriptor of a socket that was established and authenticated on `node:net`: a
 * duplicate, so that the original socket can be closed as usual.
 */
import type { Socket } from 'node:net';
import { failure } from '../../shared/errors/errors.ts';
import type { Libc } from './libc.ts';

/** Large enough that few writes must wait, small enough for a core's cache. */
const UNSENT_BYTES = 2 ** 20;

export interface TakenSocket {
  readonly descriptor: number;
  /** Bytes that Node had read beyond the handshake. */
  readonly read: Buffer;
  /** Bytes that Node has counted until now. */
  readonly bytesWritten: number;
  readonly bytesRead: number;
}

/**
 * Takes over a socket; undefined if it has closed in the meantime, because the peer has left.
 * @throws GradwireError `NATIVE_UNAVAILABLE`
 */
export function takeOver(socket: Socket, libc: Libc): TakenSocket | undefined {
  if (socket.destroyed) return undefined;
  const source = descriptorOf(socket);
  if (source === undefined || socket.writableLength > 0) {
    throw failure('NATIVE_UNAVAILABLE', 'Node did not expose the socket’s descriptor', {
      next: 'Use transport tcp.',
    });
  }
  // All in one go: Node reads nothing between the last read and its close.
  const read = (socket.read() as Buffer | null) ?? Buffer.alloc(0);
  const { bytesWritten, bytesRead } = socket;
  const descriptor = libc.duplicate(source);
  if (descriptor < 0) {
    throw failure(
      'NATIVE_UNAVAILABLE',
      `cannot duplicate the descriptor (${libc.errno()})`,
      {
        next: 'Raise the limit of open files (ulimit -n), or use transport tcp.',
      },
    );
  }
  // TCP adapts its own buffer; data in flight on a Unix socket only takes memory.
  if (socket.remoteAddress === undefined) libc.setUnsentBytes(descriptor, UNSENT_BYTES);
  socket.destroy();
  return { descriptor, read, bytesWritten, bytesRead };
}

/** Node keeps it in the socket's handle, on every system but Windows. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as {
    readonly _handle?: { readonly fd?: unknown } | null;
  };
  const descriptor = handle?.fd;
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined;
}
