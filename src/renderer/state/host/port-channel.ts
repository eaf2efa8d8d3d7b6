/** The line of a page in Electron's window: a MessagePort to the main process. */
import { PORT_MESSAGE, type HostBridge } from '../../../shared/rpc/host-bridge.ts';
import { portChannel } from '../../../shared/rpc/rpc-wire.ts';
import type { OpenChannel } from './channel.ts';

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
