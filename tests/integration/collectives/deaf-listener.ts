/**
 * A thread that listens and accepts nobody, so that whoever connects once its backlog is
 * full waits for an answer that does not come: like a host behind a silent firewall.
 */
import { createServer, type AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const held = new Int32Array(workerData as SharedArrayBuffer);
const server = createServer();
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  parentPort!.postMessage((server.address() as AddressInfo).port);
  // The event loop stands still from here on: the kernel accepts, nobody takes.
  setImmediate(() => {
    Atomics.wait(held, 0, 0);
    server.close();
  });
});
