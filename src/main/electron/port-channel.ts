/** Electron's end of a MessagePort as an RPC channel. */
import type { MessagePortMain } from 'electron';
import type { RpcChannel } from '../rpc/channel.ts';

export function portChannel(port: MessagePortMain): RpcChannel {
  let closed = false;
  port.once('close', () => {
    closed = true;
  });
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
      else port.once('close', listener);
    },
    close: () => port.close(),
  };
}
