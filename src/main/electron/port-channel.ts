/**
 * Electron's end of a MessagePort as an RPC channel. A port emits no event when it is
 * closed on its own side, so this class does.
 */
import type { MessagePortMain } from 'electron';
import type { RpcChannel } from '../rpc/channel.ts';

export function portChannel(port: MessagePortMain): RpcChannel {
  let closed = false;
  const listeners: (() => void)[] = [];
  const end = (): void => {
    if (closed) return;
    closed = true;
    for (const listener of listeners) listener();
  };
  port.once('close', end);
  return {
    post: (text) => {
      if (!closed) port.postMessage(text);
    },
    onMessage: (listener) => {
      port.on('message', (event) => listener(event.data));
      port.start();
    },
    onClose: (listener) => {
      if (closed) listener();
      else listeners.push(listener);
    },
    close: () => {
      port.close();
      end();
    },
  };
}
