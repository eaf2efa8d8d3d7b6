/**
 * The transport of a session: a WebSocket or a MessagePort, reduced to what RPC needs.
 * Ordered and reliable while it is open; text only.
 */
export interface RpcChannel {
  /** Sends one message. A message posted after the close is dropped. */
  post(text: string): void;
  /** Sets the one listener, before the first message can arrive. */
  onMessage(listener: (text: unknown) => void): void;
  /** Called once, whichever side closed. */
  onClose(listener: () => void): void;
  /** `refused`: the other side broke the protocol. */
  close(reason: 'done' | 'refused'): void;
}
