/** The page's line to its host, as it is opened. */
import type { RpcChannel } from '../../../shared/rpc/rpc-wire.ts';

/** Opens a new channel, or returns why there will be none. */
export type OpenChannel = (signal: AbortSignal) => Promise<Opening>;

export type Opening =
  | { readonly kind: 'open'; readonly channel: RpcChannel }
  /** Unavailable now; retry. */
  | { readonly kind: 'unreachable' }
  /** The host refuses this page, which has no access token or that of an earlier start. */
  | { readonly kind: 'refused' };
