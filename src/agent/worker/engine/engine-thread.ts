/** The engine thread: an engine that exchanges while the trainer thread computes. */
import { parentPort } from 'node:worker_threads';
import { EngineHost } from './engine-host.ts';
import type { ToEngine } from './engine-protocol.ts';

const port = parentPort;
if (port === null) throw new Error('internal: the engine runs in a worker thread');

const host = new EngineHost((message) => {
  port.postMessage(message);
});
port.on('message', (message: ToEngine) => {
  host.handle(message);
});
