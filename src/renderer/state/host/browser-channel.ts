/** The line of a page in a browser: a WebSocket to the server that served the page. */
import {
  CHALLENGE_PATH,
  provenText,
  RPC_PATH,
} from '../../../shared/rpc/access-token.ts';
import type { OpenChannel } from './channel.ts';
import { openWebSocket } from './web-socket-channel.ts';

interface BrowserPage {
  readonly origin: string;
  /** Returns the token that the printed URL has left in this browser. */
  token(): string | undefined;
}

/**
 * The page's own host over `/rpc`. The token is only proved: another user's server may listen on
 * the port by now.
 */
export const openBrowserChannel =
  (page: BrowserPage): OpenChannel =>
  async (signal) => {
    try {
      const address = await provenAddress(page, signal);
      // The host answers, so it has another token or this page has none.
      if (address === undefined) return { kind: 'refused' };
      address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
      const channel = await openWebSocket(() => new WebSocket(address), signal);
      if (channel !== undefined) return { kind: 'open', channel };
      // A WebSocket does not distinguish a missing host from one that refuses.
      const asked = await provenAddress(page, signal);
      if (asked === undefined) return { kind: 'refused' };
      const answer = await fetch(asked, { method: 'HEAD', signal });
      return { kind: answer.status === 401 ? 'refused' : 'unreachable' };
    } catch {
      // Not reached; pages do not learn the network's reason.
      return { kind: 'unreachable' };
    }
  };

/**
 * Returns the line's address with a proof, good once; undefined without a token.
 * @throws if the host does not answer
 */
async function provenAddress(
  page: BrowserPage,
  signal: AbortSignal,
): Promise<URL | undefined> {
  const { origin } = page;
  const answer = await fetch(new URL(CHALLENGE_PATH, origin), {
    cache: 'no-store',
    signal,
  });
  if (!answer.ok) throw new Error(`the host answers ${answer.status}`);
  const nonce = await answer.text();
  const token = page.token();
  if (token === undefined) return undefined;
  const address = new URL(RPC_PATH, origin);
  address.searchParams.set('nonce', nonce);
  address.searchParams.set('proof', await keyedHash(token, provenText(nonce, origin)));
  return address;
}

/** HMAC-SHA-256 in base64url. */
async function keyedHash(key: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const made = await crypto.subtle.importKey(
    'raw',
    encoder.encode(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const hash = await crypto.subtle.sign('HMAC', made, encoder.encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(hash)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
