/**
 * What the page needs of a line to its host, a WebSocket or a MessagePort: ordered and
 * reliable while open; an open channel closes once, then never opens again.
 */
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
