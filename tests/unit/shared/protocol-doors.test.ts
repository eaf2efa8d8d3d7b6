/**
 * Whatever a message has become on its way, its door returns it or throws a coded error, and
 * what it returns would pass again. Nothing else may be thrown: a caller's `catch` is all that
 * stands between a message and its process.
 */
import { expect, test } from 'vitest';
import { replySchema } from '../../../src/agent/training/inspect/inspections.ts';
import { GradwireError } from '../../../src/shared/errors.ts';
import { checkedMessage } from '../../../src/shared/protocol/checked-message.ts';
import { FrameDecoder, encodeFrame } from '../../../src/shared/protocol/frame.ts';
import { parseRequest, requestId } from '../../../src/shared/protocol/requests.ts';
import {
  fromWorkerSchema,
  toWorkerSchema,
} from '../../../src/shared/protocol/worker.ts';
import { effort, seed } from '../../harness/effort.ts';
import { mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { iterationRecord } from '../main/sample-records.ts';

const MESSAGES = effort({ quick: 3000, soak: 100_000 });

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
  ...{ epoch: 1, notBefore: 3, residual: 'flush' },
  plan: { ...plan, bucketBytes: 4096, layers: [{ ...plan, match: '*' }] },
};
const network = {
  ...{ alpha: 1e-6, beta: 1e-9, gamma: 1e-10, rates: [{ bytes: 8, beta: 0 }] },
  between: { alpha: 1, beta: 2, perRank: true },
};
const error = { code: 'X', kind: 'failure', message: 'x', rank: 1 };

const refusal = { code: 'X_INVALID', what: 'x' };

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
        ...{ switches: [planned], secret, listen: '::', threads: 1, engine: 'thread' },
        ...{
          ports: { first: 5, last: 9 },
          places: [0, 1],
          checkpoints: '/c',
          resume: 4,
        },
      },
      { type: 'begin', addresses: [address, address] },
      { type: 'switch', switch: planned },
      { type: 'stop' },
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
  expect(refused).toBeGreaterThan(MESSAGES / 4);
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
