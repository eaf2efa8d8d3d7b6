/** The line of a page in Electron's window: a MessagePort to the main process. */
import { PORT_MESSAGE, type HostBridge } from '../../../shared/rpc/host-bridge.ts';
import type { Channel, OpenChannel } from './channel.ts';

/** Electron's main process, over the port that its preload script hands over. */
export function openPortChannel(bridge: HostBridge): OpenChannel {
  return async (signal) => {
    const port = await new Promise<MessagePort | undefined>((resolve) => {
      const done = new AbortController();
      window.addEventListener(
        'message',
        (event: MessageEvent) => {
          if (event.source !== window || event.data !== PORT_MESSAGE) return;
          done.abort();
          resolve(event.ports[0]);
        },
        { signal: done.signal },
      );
      signal.addEventListener('abort', () => {
        done.abort();
        resolve(undefined);
      });
      bridge.requestPort();
    });
    if (port === undefined) return { kind: 'unreachable' };
    return { kind: 'open', channel: portChannel(port) };
  };
}

/** A port emits no event when it is closed on its own side, so this class does. */
function portChannel(port: MessagePort): Channel {
  const ended = new AbortController();
  port.addEventListener('close', () => ended.abort());
  return {
    post: (text) => port.postMessage(text),
    onMessage: (listener) => {
      port.addEventListener('message', (event: MessageEvent) => listener(event.data));
      port.start();
    },
    onClose: (listener) => {
      if (ended.signal.aborted) listener();
      else ended.signal.addEventListener('abort', () => listener(), { once: true });
    },
    close: () => {
      port.close();
      ended.abort();
    },
  };
}
