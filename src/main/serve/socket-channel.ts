/**
 * A WebSocket of the `ws` library as an RPC channel. Bounded on both sides: what comes in
 * by the server's maxPayload, what goes out by the session's flow control.
 */
import type { WebSocket } from 'ws';
import type { RpcChannel } from '../../shared/rpc/rpc-wire.ts';

const DONE = 1001;
const REFUSED = 1002;

/** Most time for a closing peer to answer before its socket is cut. */
const CLOSE_PATIENCE_MS = 500;

/**
 * Interval of pings. A peer that answers none of two is gone, as behind a tunnel of a
 * computer that sleeps: its shells end, and its page connects again when it wakes.
 */
const PING_MS = 30_000;
const MOST_UNANSWERED = 2;

export function socketChannel(socket: WebSocket): RpcChannel {
  // An error is always followed by `close`, which is what the session acts upon.
  socket.on('error', () => socket.terminate());
  endIfSilent(socket);
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
      socket.close(reason === 'refused' ? REFUSED : DONE);
      const cut = setTimeout(() => socket.terminate(), CLOSE_PATIENCE_MS);
      socket.once('close', () => clearTimeout(cut));
    },
  };
}

function endIfSilent(socket: WebSocket): void {
  let unanswered = 0;
  const heard = (): void => {
    unanswered = 0;
  };
  socket.on('pong', heard).on('message', heard);
  const pings = setInterval(() => {
    if (unanswered++ < MOST_UNANSWERED) socket.ping();
    else socket.terminate();
  }, PING_MS);
  socket.once('close', () => clearInterval(pings));
}
