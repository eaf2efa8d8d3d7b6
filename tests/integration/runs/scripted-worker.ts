/**
 * A worker that trains nothing: it speaks the supervisor's protocol, and its records are
 * what the run's name asks for. Rank 1 spoils one; the others record until they are ended.
 */
import { writeSync } from 'node:fs';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { ToWorker } from '../../../src/shared/protocol/worker.ts';
import { iterationRecord } from '../../unit/main/sample-records.ts';

const ITERATION_MS = 20;
const SPOILT_ITERATION = 3;

/** Each makes of a good record one that no supervisor may take. */
const defects: Readonly<Record<string, (record: object) => unknown>> = {
  'loss-nan': (record) => ({ ...record, loss: NaN }),
  'wall-infinite': (record) => ({ ...record, wall: Infinity }),
  'other-rank': (record) => ({ ...record, rank: 0 }),
  repeated: (record) => ({ ...record, iteration: SPOILT_ITERATION - 1 }),
  'unknown-type': (record) => ({ ...record, type: 'speed' }),
  'no-record': () => 'nothing',
};

let name = '';
let rank = 0;
let iteration = 0;
const decoder = new FrameDecoder();

function send(message: unknown): void {
  writeSync(3, encodeFrame(message));
}

function step(): void {
  const good = iterationRecord(iteration, rank);
  const spoil = rank === 1 && iteration === SPOILT_ITERATION && defects[name];
  send({ type: 'records', records: [spoil ? spoil(good) : good] });
  iteration++;
}

function handle(message: ToWorker): void {
  switch (message.type) {
    case 'configure':
      ({ name } = message.spec);
      ({ rank } = message);
      send({ type: 'listening', address: { host: '127.0.0.1', port: 1 } });
      return;
    case 'begin':
      send({ type: 'ready', backend: 'wasm', parameters: 10 });
      if (name === 'failure-that-is-none') send({ type: 'failed', error: { code: 5 } });
      setInterval(step, ITERATION_MS);
      return;
    case 'switch':
    case 'stop':
      return;
    default:
      message satisfies never;
  }
}

process.stdin.on('data', (chunk: Buffer) => {
  for (const message of decoder.push(chunk)) handle(message as ToWorker);
});
process.stdin.on('end', () => process.exit(0));
