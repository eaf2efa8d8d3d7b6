/** The line of a page in a browser: a WebSocket to the server that served the page. */
import type { Channel, OpenChannel } from './channel.ts';

/** Undefined if it does not open. Nothing of it is left behind then. */
export async function openWebSocket(
  make: () => WebSocket,
  signal: AbortSignal,
): Promise<Channel | undefined> {
  const socket = make();
  const abort = (): void => socket.close();
  signal.addEventListener('abort', abort);
  // A page in a forgotten tab tries for days: the signal must not hold on to each attempt.
  socket.addEventListener('close', () => signal.removeEventListener('abort', abort), {
    once: true,
  });
  const opened = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
    socket.addEventListener('close', () => resolve(false), { once: true });
    socket.addEventListener('error', () => resolve(false), { once: true });
  });
  if (!opened) return undefined;
  return {
    post: (text) => socket.send(text),
    onMessage: (listener) =>
      socket.addEventListener('message', (event: MessageEvent) => listener(event.data)),
    onClose: (listener) => {
      if (socket.readyState >= socket.CLOSING) listener();
      else socket.addEventListener('close', listener, { once: true });
    },
    close: () => socket.close(),
  };
}

/** The page's own host over `/rpc`, authenticated by the cookie of the page. */
export const openBrowserChannel: OpenChannel = async (signal) => {
  const address = new URL('/rpc', window.location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const channel = await openWebSocket(() => new WebSocket(address), signal);
  if (channel !== undefined) return { kind: 'open', channel };
  // A WebSocket does not distinguish a missing host from one that refuses.
  try {
    const answer = await fetch('/', { method: 'HEAD', signal });
    return { kind: answer.status === 401 ? 'refused' : 'unreachable' };
  } catch {
    // Not reached either; pages do not learn the network's reason.
    return { kind: 'unreachable' };
  }
};
