/**
 * The page's line to its host, a WebSocket or a MessagePort: ordered and reliable while
 * open; an open channel closes once and never reopens.
 */
export interface Channel {
  post(text: string): void;
  onMessage(listener: (text: unknown) => void): void;
  /** Called once; immediately if the channel has already closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Opens a new channel, or returns why there will be none. */
export type OpenChannel = (signal: AbortSignal) => Promise<Opening>;

export type Opening =
  | { readonly kind: 'open'; readonly channel: Channel }
  /** Unavailable now; retry. */
  | { readonly kind: 'unreachable' }
  /** The host refuses this page, which has no access token or that of an earlier start. */
  | { readonly kind: 'refused' };
