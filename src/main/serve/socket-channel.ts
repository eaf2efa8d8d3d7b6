/**
 * A WebSocket of the `ws` library as an RPC channel. Bounded on both sides: what comes in
 * by the server's maxPayload, what goes out by the session's flow control.
 */
import type { WebSocket } from 'ws';
import type { RpcChannel } from '../rpc/channel.ts';

const CLOSE_CODES = { done: 1001, refused: 1002 } as const;

/** Most time for a closing peer to answer before its socket is cut. */
const CLOSE_PATIENCE_MS = 500;

export function socketChannel(socket: WebSocket): RpcChannel {
  // An error is always followed by `close`, which is what the session acts upon.
  socket.on('error', () => socket.terminate());
  return {
    post: (text) => {
      if (socket.readyState === socket.OPEN) socket.send(text);
    },
    onMessage: (listener) => {
      socket.on('message', (data, isBinary) =>
        listener(isBinary ? data : String(data)),
      );
    },
    onClose: (listener) => {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once('close', listener);
    },
    close: (reason) => {
      socket.close(CLOSE_CODES[reason]);
      const cut = setTimeout(() => socket.terminate(), CLOSE_PATIENCE_MS);
      socket.once('close', () => clearTimeout(cut));
    },
  };
}
