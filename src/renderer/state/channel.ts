/**
 * The two ways from the page to its host: a WebSocket (browser) and a MessagePort
 * (window). Ordered and reliable while open; an open channel closes once, then never
 * opens again.
 */
import { PORT_MESSAGE, type HostBridge } from '../../shared/host-bridge.ts';

export interface Channel {
  post(text: string): void;
  onMessage(listener: (text: unknown) => void): void;
  /** Called once. A channel that has closed already calls at once. */
  onClose(listener: () => void): void;
  close(): void;
}

/** How a channel is had: opens a new one, or says why there will be none. */
export type OpenChannel = (signal: AbortSignal) => Promise<Opening>;

export type Opening =
  | { readonly kind: 'open'; readonly channel: Channel }
  /** Not now: worth another try. */
  | { readonly kind: 'unreachable' }
  /** The host does not take this page: its access token is that of an earlier start. */
  | { readonly kind: 'refused' };

/** A channel over any WebSocket, the browser's or another with the same interface. */
export async function openWebSocket(
  make: () => WebSocket,
  signal: AbortSignal,
): Promise<Channel | undefined> {
  const socket = make();
  const opened = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
    socket.addEventListener('close', () => resolve(false), { once: true });
    socket.addEventListener('error', () => resolve(false), { once: true });
    signal.addEventListener('abort', () => socket.close(), { once: true });
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
  // A WebSocket does not tell a host that is gone from one that refuses.
  try {
    const answer = await fetch('/', { method: 'HEAD', signal });
    return { kind: answer.status === 401 ? 'refused' : 'unreachable' };
  } catch {
    // Not reached either: the network's reason is not given to pages.
    return { kind: 'unreachable' };
  }
};

/** Electron's main process, over the port that its preload script hands over. */
export function openPortChannel(bridge: HostBridge): OpenChannel {
  return async (signal) => {
    const port = await new Promise<MessagePort | undefined>((resolve) => {
      const done = new AbortController();
      window.addEventListener(
        'message',
        (event: MessageEvent) => {
          if (event.source !== window || event.data !== PORT_MESSAGE) return;
          done.abort();
          resolve(event.ports[0]);
        },
        { signal: done.signal },
      );
      signal.addEventListener('abort', () => {
        done.abort();
        resolve(undefined);
      });
      bridge.requestPort();
    });
    if (port === undefined) return { kind: 'unreachable' };
    return { kind: 'open', channel: portChannel(port) };
  };
}

function portChannel(port: MessagePort): Channel {
  return {
    post: (text) => port.postMessage(text),
    onMessage: (listener) => {
      port.addEventListener('message', (event: MessageEvent) => listener(event.data));
      port.start();
    },
    onClose: (listener) => port.addEventListener('close', listener, { once: true }),
    close: () => port.close(),
  };
}
