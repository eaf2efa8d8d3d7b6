/**
 * A worker that trains nothing: it speaks the supervisor's protocol, and the run's name
 * says what it does. Rank 1 may spoil a record; a stop may take long; there may be thousands
 * of iterations at once.
 */
import { writeSync } from 'node:fs';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { ToWorker } from '../../../src/shared/protocol/worker.ts';
import { mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../collectives/run-collective.ts';
import { done, iterationRecord } from '../../unit/main/sample-records.ts';
import { TORRENT } from './torrent.ts';

const ITERATION_MS = 20;
const SPOILT_ITERATION = 3;
const TORRENT_BATCH = 50;

/** Each makes of a good record one that no supervisor may take. */
const defects: Readonly<Record<string, (record: object) => unknown>> = {
  'loss-nan': (record) => ({ ...record, loss: NaN }),
  'no-record': () => 'nothing',
};

/** What a run sends in place of a report, by its name. */
const nonsense: Readonly<Record<string, unknown>> = {
  'report-nil': null,
  'report-number': 7,
  'report-unknown': { type: 'constructor' },
  'report-exit': { type: 'exit', code: 0, signal: null, stderr: '' },
  'report-checkpoint': { type: 'checkpoint', iteration: '../..', bytes: 1, wall: 1 },
  'report-address': { type: 'listening', address: null },
  'report-records': { type: 'records', records: 5 },
};

/** Reports as a rank makes them. */
const reports = [
  { type: 'listening', address: { host: '127.0.0.1', port: 1, pulse: 2 } },
  { type: 'ready', backend: 'wasm', parameters: 10, device: 'x', why: 'y' },
  { type: 'records', records: [iterationRecord(0, 1), iterationRecord(1, 1)] },
  { type: 'checkpoint', iteration: 5, bytes: 7, wall: 1 },
  { type: 'failed', error: { code: 'X', kind: 'failure', message: 'x' } },
];

/** What a run does when it is asked to stop: records for so long, or is quiet for so long. */
const stops: Readonly<Record<string, { readonly recordMs: number; quietMs: number }>> =
  {
    'records-on': { recordMs: 2500, quietMs: 0 },
    'quiet-for-long': { recordMs: 0, quietMs: 17_000 },
    torrent: { recordMs: 0, quietMs: 0 },
  };

let name = '';
let rank = 0;
let iteration = 0;
let stepping: NodeJS.Timeout | undefined;
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

/** As fast as they are read, and a line printed now and then. */
function pour(): void {
  const records = Array.from({ length: TORRENT_BATCH }, () =>
    iterationRecord(iteration++, rank),
  );
  send({ type: 'records', records });
  if (rank === 1) process.stdout.write(`poured ${iteration}\n`);
  if (iteration < TORRENT) setTimeout(pour);
  else stepping = setInterval(step, ITERATION_MS);
}

/** A run whose name says nothing of stops never does, and says nothing more. */
function stop(): void {
  const plan = stops[name];
  setTimeout(() => {
    clearInterval(stepping);
    if (plan !== undefined) setTimeout(finish, plan.quietMs);
  }, plan?.recordMs);
}

function finish(): void {
  if (rank === 0) {
    const record = { ...done, reason: 'stopped', iterations: iteration };
    send({ type: 'records', records: [record] });
  }
  send({ type: 'finished' });
  process.exit(0);
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
      if (rank === 1 && name in nonsense) send(nonsense[name]);
      if (rank === 1 && name === 'no-frame') writeSync(3, Buffer.alloc(9, 255));
      if (rank === 1 && name.startsWith('mutant-')) {
        const random = generator(Number(name.slice('mutant-'.length)));
        const frame = encodeFrame(mutant(random, oneOf(random, reports)));
        writeSync(3, random() < 0.7 ? frame : mangled(random, frame));
        writeSync(3, encodeFrame({ type: 'neither' }));
      }
      if (name === 'failure-that-is-none') send({ type: 'failed', error: { code: 5 } });
      if (name === 'torrent') pour();
      else stepping = setInterval(step, ITERATION_MS);
      return;
    case 'order':
      if (message.order.type !== 'switch') stop();
      return;
    default:
      message satisfies never;
  }
}

process.stdin.on('data', (chunk: Buffer) => {
  for (const message of decoder.push(chunk)) handle(message as ToWorker);
});
process.stdin.on('end', () => process.exit(0));
