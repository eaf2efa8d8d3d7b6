/** Rank 1 in a thread of its own: sends 4 MB messages to rank 0 until it is ended. */
import { parentPort } from 'node:worker_threads';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { chooseTransport } from '../../../src/agent/transport/transport-choice.ts';
import {
  SENDER_BYTES,
  SENDER_HEADER,
  SENDER_RUN,
  type SenderOrder,
} from './endless-sender-order.ts';

async function send({ addresses, transport: kind }: SenderOrder): Promise<never> {
  const { libc } = await chooseTransport(kind);
  const transport = await connectMesh({
    ...SENDER_RUN,
    listener,
    rank: 1,
    addresses,
    libc,
    timeoutMs: 10_000,
  });
  const data = new Uint8Array(new SharedArrayBuffer(SENDER_BYTES)).fill(7);
  for (;;) await transport.send(0, SENDER_HEADER, data);
}

const port = parentPort!;
const listener = await listenTcp('127.0.0.1');
port.once('message', (order: SenderOrder) => {
  void send(order);
});
port.postMessage(listener.address);
