/**
 * What carries a session: a WebSocket or a MessagePort, reduced to what RPC needs of it.
 * Ordered and reliable as long as it is open; text only.
 */
export interface RpcChannel {
  /** Sends one message. A message posted after the close is dropped. */
  post(text: string): void;
  /** One listener, set once, before the first message can arrive. */
  onMessage(listener: (text: unknown) => void): void;
  /** Called once, whichever side closed. */
  onClose(listener: () => void): void;
  /** `refused`: the other side broke the protocol. */
  close(reason: 'done' | 'refused'): void;
}
