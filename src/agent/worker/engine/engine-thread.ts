/** The engine thread: an engine that exchanges while the trainer thread computes. */
import { parentPort } from 'node:worker_threads';
import { toErrorData } from '../../../shared/errors/errors.ts';
import { EngineHost } from './engine-host.ts';
import type { FromEngine, ToEngine } from './engine-protocol.ts';

const port = parentPort;
if (port === null) throw new Error('internal: the engine runs in a worker thread');

const host = new EngineHost();
const post = (message: FromEngine): void => {
  port.postMessage(message);
};
port.on('message', (message: ToEngine) => {
  if (message.type !== 'call') {
    host.order(message);
    return;
  }
  const { call, id, request } = message;
  host
    .call(call, request)
    .then((reply) => {
      post({ type: 'reply', id, reply });
    })
    .catch((error: unknown) => {
      post({ type: 'error', id, error: toErrorData(error) });
    });
});
