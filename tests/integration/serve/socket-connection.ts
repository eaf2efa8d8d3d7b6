/** The page's own connection over a real WebSocket, with the headers a browser sends. */
import WebSocket, { type ClientOptions } from 'ws';
import { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import type { Opening } from '../../../src/renderer/state/host/channel.ts';
import type { RpcChannel } from '../../../src/shared/rpc/rpc-wire.ts';

/** @param url as the host printed it, its token included */
export async function connectTo(url: string): Promise<HostConnection> {
  const connection = new HostConnection(() => openSocket(url), undefined);
  await connection.settled();
  return connection;
}

export function socketTo(url: string, options: ClientOptions = {}): WebSocket {
  const { origin, host, search } = new URL(url);
  return new WebSocket(`ws://${host}/rpc${search}`, { ...options, origin });
}

async function openSocket(url: string): Promise<Opening> {
  const socket = socketTo(url);
  const outcome = await new Promise<'open' | 'refused' | 'unreachable'>((resolve) => {
    socket.once('open', () => resolve('open'));
    socket.once('unexpected-response', () => resolve('refused'));
    socket.once('error', () => resolve('unreachable'));
  });
  if (outcome !== 'open') return { kind: outcome };
  const channel: RpcChannel = {
    post: (text) => socket.send(text),
    onMessage: (listener) => socket.on('message', (data) => listener(String(data))),
    onClose: (listener) => socket.once('close', listener),
    close: () => socket.close(),
  };
  return { kind: 'open', channel };
}
