/** A WebSocket as a channel. */
import type { RpcChannel } from '../../../shared/rpc/rpc-wire.ts';

/** Opens a WebSocket; undefined if it does not open, and then nothing of it remains. */
export async function openWebSocket(
  make: () => WebSocket,
  signal: AbortSignal,
): Promise<RpcChannel | undefined> {
  const socket = make();
  const abort = (): void => socket.close();
  signal.addEventListener('abort', abort);
  // A page in a forgotten tab tries for days: the signal must not hold on to each attempt.
  socket.addEventListener('close', () => signal.removeEventListener('abort', abort), {
    once: true,
  });
  const opened = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
    socket.addEventListener('close', () => resolve(false), { once: true });
    socket.addEventListener('error', () => resolve(false), { once: true });
  });
  if (!opened) return undefined;
  return {
    post: (text) => socket.send(text),
    onMessage: (listener) =>
      socket.addEventListener('message', (event: MessageEvent) => listener(event.data)),
    onClose: (listener) => {
      if (socket.readyState >= socket.CLOSING) listener();
      else socket.addEventListener('close', listener, { once: true });
    },
    close: () => socket.close(),
  };
}
