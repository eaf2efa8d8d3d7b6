/**
 * Whatever a message has become on its way, its door returns it or throws a coded error, and
 * what it returns would pass again. Nothing else may be thrown: a caller's `catch` is all that
 * stands between a message and its process.
 */
import { expect, test } from 'vitest';
import * as allreduce from '../../../src/agent/allreduce/rank-protocol.ts';
import * as probe from '../../../src/agent/probe/rank-protocol.ts';
import { makeCatalogue } from '../../../src/agent/launch/catalogue.ts';
import { parseMeta } from '../../../src/agent/supervisor/runs/run-meta.ts';
import { replySchema } from '../../../src/agent/training/inspect/inspections.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import {
  forecastCallSchema,
  forecastReplySchema,
} from '../../../src/shared/forecast/forecast-question.ts';
import {
  checkedMessage,
  type Refusal,
} from '../../../src/shared/protocol/checked-message.ts';
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
import { candidate } from './forecast-candidate.ts';

const MESSAGES = effort({ quick: 1000, soak: 100_000 });

const secret = new Uint8Array(32);
const address = {
  host: '::1',
  port: 9,
  hosts: ['a'],
  pulse: 10,
  local: '\0x',
  node: 'b',
};
const plan = { method: 'topk', parameters: { ratio: 0.1 }, collective: 'ring' };
const planned = {
  epoch: 1,
  notBefore: 3,
  residual: 'flush',
  plan: { ...plan, bucketBytes: 4096, layers: [{ ...plan, match: '*' }] },
};
const network = {
  ...{ alpha: 1e-6, beta: 1e-9, gamma: 1e-10, rates: [{ bytes: 8, beta: 0 }] },
  between: { alpha: 1, beta: 2, perRank: true },
};
const error = { code: 'X', kind: 'failure', message: 'x', rank: 1 };

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
const timing = { alpha: 1e-6, there: 1e-9, back: 1e-9 };
const timed = { bytes: 8, seconds: [1e-6, 2e-6] };
const kernels = {
  add: 1e-9,
  merge: 1e-9,
  scatter: 1e-9,
  select: 1e-9,
  quantize: 1e-9,
  dequantize: 1e-9,
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

const question = {
  // Checked by the spec's own parser, later.
  spec: {},
  worlds: [{ ranks: 2, network, places: [0, 1] }],
  compute: 0.01,
  memory: true,
  rehearse: false,
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

const refusal: Refusal = { code: 'REQUEST_INVALID', what: 'x' };

const DOORS: Readonly<
  Record<string, readonly [(raw: unknown) => unknown, readonly unknown[]]>
> = {
  'the supervisor’s': [
    (raw) => (requestId(raw) === undefined ? undefined : parseRequest(raw)),
    [
      { method: 'ping', body: {} },
      { method: 'begin', body: { run: 'r', addresses: [address] } },
      { method: 'adopt', body: { run: 'r', switches: [planned] } },
      { method: 'abort', body: { run: 'r', error } },
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
  'an allreduce rank’s': [
    (raw) => checkedMessage(allreduce.toRankSchema, raw, refusal),
    [
      { type: 'load', rank: 1, file: '/tmp/x.f32', values: 'f64' },
      {
        type: 'reduce',
        addresses: [address, address],
        run: 'allreduce',
        secret,
        collective: 'ring',
        kind: 'dense',
        operation: 'sum',
        transport: 'auto',
        encrypt: true,
        places: [0, 1],
        servers: 1,
        seed: 1,
        quantization: { bits: 4, bucket: 512, scale: 'max' },
        network: {
          bandwidth: 1e9,
          latency: 0.05,
          pairs: [{ between: ['a', 'b'], bandwidth: 1e8, latency: 1 }],
        },
      },
      { type: 'write', file: '/tmp/y.f32' },
    ],
  ],
  'the parent’s of allreduce ranks': [
    (raw) => checkedMessage(allreduce.fromRankSchema, raw, refusal),
    [
      {
        type: 'loaded',
        address,
        length: 9,
        nnz: 3,
        notFinite: { count: 2, index: 1, value: 'NaN' },
      },
      {
        type: 'reduced',
        milliseconds: 1.5,
        wireSent: 10,
        wireReceived: 10,
        transport: 'native',
        form: 'sparse',
        nnz: 3,
      },
      { type: 'written' },
    ],
  ],
  'a measuring rank’s': [
    (raw) => checkedMessage(probe.toRankSchema, raw, refusal),
    [
      { type: 'listen', rank: 0, host: '::1', ports: { first: 5, last: 9 } },
      {
        type: 'probe',
        addresses: [address, address],
        run: 'network',
        secret,
        transport: 'tcp',
        effort: 'quick',
      },
      { type: 'time', addresses: [address, address], run: 'l', secret, encrypt: true },
    ],
  ],
  'the parent’s of measuring ranks': [
    (raw) => checkedMessage(probe.fromRankSchema, raw, refusal),
    [
      { type: 'listening', address },
      {
        type: 'probed',
        transport: 'tcp',
        timings: {
          pairs: [{ ranks: [0, 1], messages: [timed] }],
          loaded: [{ ranks: 2, messages: [timed], bursts: [] }],
          kernels,
          collectives: [{ collective: 'ring', length: 8, seconds: [1e-6] }],
        },
      },
      { type: 'timed', timing, transport: 'tcp' },
    ],
  ],
  'the forecaster’s': [
    (raw) => checkedMessage(forecastCallSchema, raw, refusal),
    [
      { id: 7, question },
      { id: 8, question: { ...question, exchanges: [plan], elements: 9 } },
    ],
  ],
  'the app’s, for forecasts': [
    (raw) => checkedMessage(forecastReplySchema, raw, refusal),
    [
      { id: 7, answer: { worlds: [[candidate], []], elements: 9 } },
      {
        id: 8,
        answer: {
          worlds: [[{ ...candidate, servers: 2 }]],
          elements: 9,
          memory: [[{ name: 'gradients', bytes: 36 }]],
        },
      },
      { id: 9, error },
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
