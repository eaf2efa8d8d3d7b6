/**
 * The thread of `pulse.ts`: it sends a byte to every peer's pulse several times within
 * the limit of silence, and watches for theirs. It computes nothing, so that it is late
 * only if the whole process is.
 */
import type { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorData } from '../../shared/errors/errors.ts';
import { linkMesh } from './mesh-links.ts';
import type { FromPulse, PulseOrder, PulsePlace } from './pulse.ts';
import { PulseWatch, TICKS_PER_SILENCE } from './pulse-watch.ts';
import { listenTcp, type TcpListener } from './tcp-listener.ts';

/** The most unsent heartbeats per peer; more would be useless. */
const MOST_QUEUED = 16;
const SIGN = Buffer.of(1);

const port = parentPort;
if (port === null) throw new Error('internal: the pulse runs in a thread');

function post(message: FromPulse): void {
  port!.postMessage(message);
}

async function keep(listener: TcpListener, order: PulseOrder): Promise<void> {
  const { silenceMs, ...mesh } = order;
  const links = await linkMesh({ ...mesh, listener });
  const watch = new PulseWatch();
  const sockets = new Map<number, Socket>();
  for (const { peer, socket } of links) {
    sockets.set(peer, socket);
    watch.watch(peer);
    socket.on('data', () => {
      const change = watch.heard(peer);
      if (change !== undefined) post({ type: 'change', change });
    });
    socket.on('close', () => {
      sockets.delete(peer);
      watch.forget(peer);
    });
    socket.resume();
  }
  setInterval(() => {
    for (const socket of sockets.values()) {
      if (socket.writableLength < MOST_QUEUED) socket.write(SIGN);
    }
    for (const change of watch.tick()) post({ type: 'change', change });
  }, silenceMs / TICKS_PER_SILENCE);
  post({ type: 'begun' });
}

try {
  const { host, ports } = workerData as PulsePlace;
  const listener = await listenTcp(host, ports);
  port.once('message', (order: PulseOrder) => {
    keep(listener, order).catch((error: unknown) => {
      post({ type: 'failed', error: toErrorData(error) });
    });
  });
  post({ type: 'listening', port: listener.address.port });
} catch (error) {
  post({ type: 'failed', error: toErrorData(error) });
}
