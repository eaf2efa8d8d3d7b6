/**
 * Whatever a message has become on its way, its door returns it or throws a coded error, and
 * what it returns would pass again. Nothing else may be thrown: a caller's `catch` is all that
 * stands between a message and its process.
 */
import { expect, test } from 'vitest';
import { makeCatalogue } from '../../../src/agent/launch/catalogue.ts';
import { parseMeta } from '../../../src/agent/supervisor/runs/run-meta.ts';
import { replySchema } from '../../../src/agent/training/inspect/inspections.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { checkedMessage } from '../../../src/shared/protocol/checked-message.ts';
import { FrameDecoder, encodeFrame } from '../../../src/shared/protocol/frame.ts';
import { parseReply, replySchemas } from '../../../src/shared/protocol/replies.ts';
import { parseRequest, requestId } from '../../../src/shared/protocol/requests.ts';
import {
  parseFromSupervisor,
  type SupervisorMethod,
} from '../../../src/shared/protocol/supervisor.ts';
import {
  fromWorkerSchema,
  toWorkerSchema,
} from '../../../src/shared/protocol/worker.ts';
import { effort, seed } from '../../harness/effort.ts';
import { mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { done, iterationRecord, sampleSpec } from '../main/sample-records.ts';
import {
  address,
  error,
  kernels,
  network,
  plan,
  refusal,
  secret,
  timing,
  type Doors,
} from './protocol-doors-parts.ts';
import { PROCESS_DOORS } from './protocol-doors-processes.ts';

const MESSAGES = effort({ quick: 1000, soak: 100_000 });

const planned = {
  epoch: 1,
  notBefore: 3,
  residual: 'flush',
  plan: { ...plan, bucketBytes: 4096, layers: [{ ...plan, match: '*' }] },
};
const run = {
  run: 'r',
  phase: 'ended',
  spec: sampleSpec(),
  lastSequence: 9,
  createdAt: 1,
  ranks: [0, 1],
  switches: [planned],
  resumable: [0, 5],
  schedule: [planned],
  ending: done,
};
const hello = {
  type: 'hello',
  protocol: 1,
  reading: 1,
  version: '1.0.0',
  pid: 7,
  host: 'box',
  instance: 'i',
  cores: 4,
  catalogue: makeCatalogue(),
};
const profile = {
  version: 1,
  measuredAt: 1,
  transport: 'tcp',
  nodes: ['a', 'a'],
  kernels,
  pairs: [{ ranks: [0, 1], alpha: 1e-6, beta: 1e-9 }],
  loaded: [
    {
      ranks: 2,
      alpha: 1e-6,
      beta: 1e-9,
      messages: [{ bytes: 8, seconds: 1e-6 }],
    },
  ],
};

/** As JSON cannot say them, they are something else. */
const json = (raw: unknown): string =>
  JSON.stringify(raw, (_, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  ) ?? '';

/** A reply with the request that it answers, which a supervisor does not choose. */
function answered(raw: unknown): unknown {
  const { method, body } = (raw ?? {}) as Partial<Record<string, unknown>>;
  if (typeof method !== 'string' || !Object.hasOwn(replySchemas, method)) return;
  return { method, body: parseReply(method as SupervisorMethod, body, 'box') };
}

const DOORS: Doors = {
  ...PROCESS_DOORS,
  'the supervisor’s': [
    (raw) => (requestId(raw) === undefined ? undefined : parseRequest(raw)),
    [
      { method: 'ping', body: {} },
      { method: 'begin', body: { run: 'r', addresses: [address] } },
      { method: 'adopt', body: { run: 'r', switches: [planned] } },
      { method: 'abort', body: { run: 'r', error } },
      { method: 'stop', body: { run: 'r', now: true } },
      { method: 'checkpoint', body: { run: 'r' } },
      { method: 'trace', body: { run: 'r', iterations: 5 } },
      { method: 'foresee', body: { run: 'r', change: plan, at: 3 } },
      { method: 'acknowledge', body: { run: 'r', sequence: 4 } },
      {
        method: 'prepare',
        body: { run: 'r', spec: {}, switches: [], ranks: [0, 1], secret, network },
      },
    ].map((request) => ({ type: 'request', id: 7, ...request })),
  ],
  'the worker’s': [
    (raw) => checkedMessage(toWorkerSchema, raw, refusal),
    [
      {
        ...{
          type: 'configure',
          run: 'r',
          rank: 0,
          spec: {},
          plan: planned.plan,
          network,
        },
        switches: [planned],
        secret,
        listen: '::',
        threads: 1,
        engine: 'thread',
        ...{
          ports: { first: 5, last: 9 },
          places: [0, 1],
          checkpoints: '/c',
          resume: 4,
        },
      },
      { type: 'begin', addresses: [address, address] },
      { type: 'order', order: { type: 'switch', switch: planned } },
      { type: 'order', order: { type: 'stop' } },
      { type: 'order', order: { type: 'pause' } },
      { type: 'order', order: { type: 'checkpoint' } },
      { type: 'order', order: { type: 'trace', iterations: 5 } },
    ],
  ],
  'the supervisor’s, for reports': [
    (raw) => checkedMessage(fromWorkerSchema, raw, refusal),
    [
      { type: 'listening', address },
      { type: 'ready', backend: 'wasm', parameters: 10, device: 'x', why: 'y' },
      { type: 'records', records: [iterationRecord(0, 1)] },
      { type: 'checkpoint', iteration: 5, bytes: 7, wall: 1 },
      { type: 'finished' },
      { type: 'failed', error },
    ],
  ],
  'the app’s': [
    (raw) => parseFromSupervisor(raw, 'box'),
    [
      hello,
      { ...hello, protocol: 2 },
      { type: 'reply', id: 7, body: {} },
      { type: 'error', id: 7, error },
      { type: 'records', run: 'r', entries: [{ sequence: 1, record: done }] },
      {
        type: 'records',
        run: 'r',
        entries: [
          {
            sequence: 9,
            follows: 2,
            record: iterationRecord(0, 1),
            thinned: { at: 1, limitBytes: 5, iterations: { to: 5, every: 2 } },
          },
        ],
      },
      { type: 'run', run },
    ],
  ],
  'the app’s, for replies': [
    answered,
    [
      { method: 'validate', body: { spec: sampleSpec(), switches: [planned] } },
      { method: 'prepare', body: { addresses: [{ rank: 0, address }] } },
      { method: 'prepare', body: { addresses: [], queued: true } },
      { method: 'begin', body: {} },
      { method: 'switch', body: { switch: planned } },
      { method: 'subscribe', body: { lastSequence: 5 } },
      { method: 'openLinkEnd', body: { address } },
      { method: 'timeLink', body: { timing, transport: 'tcp' } },
      { method: 'measureNetwork', body: { profile } },
      { method: 'runs', body: { runs: [run, { ...run, ending: undefined }] } },
    ],
  ],
  'a later supervisor’s, for run.json': [
    (raw) => parseMeta(json(raw), '/runs/r/run.json'),
    [
      { spec: sampleSpec(), createdAt: 1 },
      {
        spec: sampleSpec(),
        createdAt: 1,
        later: [planned],
        launch: { ranks: [0], switches: [], places: [0], node: 'box', listen: '::' },
        data: { train: 5, test: 2, features: 9 },
      },
    ],
  ],
  'the inspector’s caller’s': [
    (raw) => checkedMessage(replySchema('model'), raw, refusal),
    [
      { error },
      {
        answer: {
          id: 'two-layer',
          inputs: { labels: { type: 'i32', shape: ['any', 3], below: 10 } },
          tensors: [{ name: 'w', shape: [784, 32], rowsOf: 'labels' }],
          layers: [{ name: 'one', tensors: ['w'] }],
        },
      },
    ],
  ],
};

test.each(Object.keys(DOORS))(`${MESSAGES} messages at %s door`, (name) => {
  const [parse, real] = DOORS[name]!;
  for (const message of real) expect(() => parse(message)).not.toThrow();
  const random = generator(seed);
  let [refused, taken] = [0, 0];
  for (let index = 0; index < MESSAGES; index++) {
    const frame = encodeFrame(mutant(random, oneOf(random, real)));
    try {
      const bytes = random() < 0.8 ? frame : mangled(random, frame);
      for (const raw of new FrameDecoder().push(bytes)) {
        const parsed = parse(raw);
        if (parsed !== undefined) expect(parse(parsed)).toEqual(parsed);
        taken++;
      }
    } catch (thrown) {
      if (!(thrown instanceof GradwireError)) throw thrown;
      expect(thrown.code).not.toBe('INTERNAL');
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(MESSAGES / 5);
  expect(taken).toBeGreaterThan(0);
});

test('a message that is nested deeper than the stack is refused', () => {
  let change: unknown = 1;
  for (let level = 0; level < 100_000; level++) change = [change];
  const body = { run: 'r', change: { a: change } };
  expect(() =>
    parseRequest({ type: 'request', id: 1, method: 'switch', body }),
  ).toThrow(/^switch: it is nested too deeply$/);
});
