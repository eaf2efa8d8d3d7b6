/** The access token of a server: where a page keeps it, and how it proves that it has it. */

/** The token's key in the browser's storage, which each port has for itself. */
export const ACCESS_TOKEN_KEY = 'gradwire.access-token';

/** The path of the WebSocket. */
export const RPC_PATH = '/rpc';
/** The path that answers with a nonce for one proof. */
export const CHALLENGE_PATH = '/rpc/challenge';

/**
 * The text whose HMAC-SHA-256 under the token, in base64url, is a page's proof. The origin is
 * in it so that no other server can have the page prove something to this one.
 */
export const provenText = (nonce: string, origin: string): string =>
  `${nonce}\n${origin}`;
