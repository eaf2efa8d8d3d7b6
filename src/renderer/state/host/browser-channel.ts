/** The line of a page in a browser: a WebSocket to the server that served the page. */
import { ACCESS_TOKEN_KEY } from '../../../shared/rpc/access-token.ts';
import type { OpenChannel } from './channel.ts';
import { openWebSocket } from './web-socket-channel.ts';

/** The page's own host over `/rpc`, with the token that the printed URL has left here. */
export const openBrowserChannel: OpenChannel = async (signal) => {
  const address = new URL('/rpc', window.location.href);
  address.searchParams.set('token', keptToken() ?? '');
  const asked = address.href;
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const channel = await openWebSocket(() => new WebSocket(address), signal);
  if (channel !== undefined) return { kind: 'open', channel };
  // A WebSocket does not distinguish a missing host from one that refuses.
  try {
    const answer = await fetch(asked, { method: 'HEAD', signal });
    return { kind: answer.status === 401 ? 'refused' : 'unreachable' };
  } catch {
    // Not reached either; pages do not learn the network's reason.
    return { kind: 'unreachable' };
  }
};

/** Undefined if this browser has never opened the printed URL, or keeps no data of the page. */
function keptToken(): string | undefined {
  try {
    return window.localStorage.getItem(ACCESS_TOKEN_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
