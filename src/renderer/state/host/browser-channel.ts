/** The line of a page in a browser: a WebSocket to the server that served the page. */
import type { OpenChannel } from './channel.ts';
import { openWebSocket } from './web-socket-channel.ts';

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
