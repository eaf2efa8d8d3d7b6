/**
 * Node's socket around a descriptor that libc also reads and writes: it wakes this thread
 * when bytes arrive, and sends what the system did not accept at once.
 */
import { Socket } from 'node:net';
import { encodeFrameHeader, FRAME_HEADER_BYTES } from './message-frame.ts';
import { COPY_BYTES, QUEUE_BYTES } from './peer-connection.ts';
import { STAGING_BYTES } from './socket-scratch.ts';
import type { MessageHeader } from './transport.ts';

/** The events of such a socket. */
interface SocketEvents {
  /** Node has read these bytes, which are valid during the call. */
  arrived(bytes: Buffer): void;
  failed(error: NodeJS.ErrnoException): void;
  drained(): void;
  ended(): void;
  closed(): void;
}

/** Makes the socket; it owns the descriptor. */
export function wakingSocket(descriptor: number, events: SocketEvents): Socket {
  const buffer = Buffer.alloc(STAGING_BYTES);
  const socket: Socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: true,
    onread: {
      buffer,
      callback: (bytes) => {
        events.arrived(buffer.subarray(0, bytes));
        return !socket.isPaused();
      },
    },
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    events.failed(error);
  });
  socket.on('drain', () => {
    events.drained();
  });
  socket.on('end', () => {
    events.ended();
  });
  socket.on('close', () => {
    events.closed();
  });
  return socket;
}

/**
 * Lets Node send the rest of a message, and whatever follows until everything has been sent.
 * @param wrote bytes of header and data that the system has accepted
 * @param flushed called when the memory of the data is no longer needed
 * @returns whether it is not needed any longer; otherwise `flushed` follows
 */
export function writeRest(
  socket: Socket,
  header: MessageHeader,
  data: Uint8Array,
  wrote: number,
  flushed: () => void,
): boolean {
  const { length } = data;
  const settle = (error?: Error | null): void => {
    // A write that fails closes the socket, which `gone` reports.
    if (error === undefined || error === null) flushed();
  };
  socket.cork();
  if (wrote < FRAME_HEADER_BYTES) {
    const prefix = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    encodeFrameHeader(prefix, 'data', header, length);
    socket.write(prefix.subarray(wrote), length === 0 ? settle : undefined);
  }
  const at = Math.max(0, wrote - FRAME_HEADER_BYTES);
  const copied = length <= COPY_BYTES && socket.writableLength < QUEUE_BYTES;
  if (length > 0) {
    const rest = Buffer.from(data.buffer, data.byteOffset + at, length - at);
    if (copied) socket.write(Buffer.from(rest));
    else socket.write(rest, settle);
  }
  socket.uncork();
  return (copied && length > 0) || socket.writableLength === 0;
}
