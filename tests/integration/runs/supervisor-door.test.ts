/**
 * Clients that send what no Gradwire sends: each has its own connection to lose and nothing
 * else. The supervisor, its runs and its other clients go on.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { effort, seed } from '../../harness/effort.ts';
import { mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../collectives/run-collective.ts';
import { address, begin, planned, prepare, REAL, request } from './real-requests.ts';
import { launchScript, startScriptedNode, untilMoves } from './scripted-node.ts';
import type { SupervisorNode } from './supervisor-node.ts';

type Answer = { readonly type: string; readonly id: number } & Record<string, unknown>;

let node: SupervisorNode;
/** Records of a run that goes on beside everything. */
let other: readonly JournalEntry[];

beforeAll(async () => {
  node = await startScriptedNode();
  other = await launchScript(node, 'good');
});
afterAll(() => node[Symbol.asyncDispose]());

/** The supervisor is the same, and its run goes on. */
async function expectWell(): Promise<void> {
  expect(await node.connection.request('ping', {})).toEqual({});
  await untilMoves(other);
}

/** A client without manners. */
class Stranger {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #answers = new Map<number, Answer>();
  #news = Promise.withResolvers<undefined>();

  constructor() {
    this.#socket = connect(node.home.socket);
    const decoder = new FrameDecoder();
    this.#socket.on('data', (chunk: Buffer) => {
      for (const message of decoder.push(chunk) as Iterable<Answer>) {
        if (message.id !== undefined) this.#answers.set(message.id, message);
      }
      this.#news.resolve(undefined);
      this.#news = Promise.withResolvers();
    });
    this.#socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.#socket.once('close', resolve));
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** The answer to that id; undefined if the connection was closed before. */
  async answer(id: number): Promise<Answer | undefined> {
    let closed = false;
    void this.closed.then(() => (closed = true));
    for (;;) {
      const news = this.#news.promise;
      const answer = this.#answers.get(id);
      if (answer !== undefined || closed) return answer;
      await Promise.race([news, this.closed]);
    }
  }

  /** The codes of the errors so far. */
  get codes(): readonly string[] {
    return [...this.#answers.values()].flatMap(({ error }) =>
      error === undefined ? [] : [(error as { readonly code: string }).code],
    );
  }

  end(): void {
    this.#socket.end();
  }

  leave(): void {
    this.#socket.destroy();
  }
}

async function answerTo(message: Record<string, unknown>): Promise<Answer | undefined> {
  const stranger = new Stranger();
  stranger.write(encodeFrame(message));
  const answer = await stranger.answer(message['id'] as number);
  stranger.leave();
  return answer;
}

test.each([
  ['nil', null],
  ['a number', 5],
  ['a text', 'request'],
  ['a list', [request]],
  ['a request without an id', { type: 'request', method: 'ping', body: {} }],
  ['a request whose id is a text', { ...request, id: '7', method: 'ping', body: {} }],
])('%s ends the connection that it came on, and nothing else', async (_, message) => {
  const stranger = new Stranger();
  stranger.write(encodeFrame(message));
  await stranger.closed;
  await expectWell();
});

test.each<[string, Record<string, unknown>, string, RegExp]>([
  ['an unknown one', { method: 'prepaer', body: {} }, 'REQUEST_UNKNOWN', /"prepaer"/],
  ...['constructor', '__proto__', 'toString'].map(
    (method): [string, Record<string, unknown>, string, RegExp] => [
      method,
      { method, body: {} },
      'REQUEST_UNKNOWN',
      new RegExp(`"${method}"`),
    ],
  ),
  ['one without a method', {}, 'REQUEST_INVALID', /^request: method is missing$/],
  ['one without a body', { method: 'stop' }, 'REQUEST_INVALID', /^stop: it is empty$/],
  [
    'one of another type',
    { type: 'reply', method: 'ping', body: {} },
    'REQUEST_INVALID',
    /^request: type: /,
  ],
  [
    'a port that is none',
    {
      ...begin,
      body: { run: 'good', addresses: [address, { ...address, port: 1e6 }] },
    },
    'REQUEST_INVALID',
    /^begin: addresses\.1\.port: it must be at most 65535, not 1000000$/,
  ],
  ['too few addresses', begin, 'REQUEST_INVALID', /^begin: 1 addresses for 2 ranks$/],
  [
    'a rank twice',
    { ...prepare, body: { ...prepare.body, ranks: [1, 1] } },
    'REQUEST_INVALID',
    /^prepare: ranks: a rank is given twice/,
  ],
  [
    'a short secret',
    { ...prepare, body: { ...prepare.body, secret: new Uint8Array(3) } },
    'REQUEST_INVALID',
    /^prepare: secret: expected 32 bytes, not 3 bytes$/,
  ],
  [
    'a switch that is no plan',
    { method: 'adopt', body: { run: 'good', switches: [{ ...planned, plan: null }] } },
    'REQUEST_INVALID',
    /^adopt: switches\.0\.plan: expected a section with keys, not null$/,
  ],
  [
    'an error that is none',
    { method: 'abort', body: { run: 'good', error: { code: 5 } } },
    'REQUEST_INVALID',
    /^abort: error\.code: expected a text, not 5$/,
  ],
  [
    'a sequence below zero',
    { method: 'subscribe', body: { run: 'good', after: -1 } },
    'REQUEST_INVALID',
    /^subscribe: after: it must be at least 0, not -1$/,
  ],
])('a request is refused, with its reason: %s', async (_, rest, code, message) => {
  expect(await answerTo({ ...request, ...rest })).toMatchObject({
    type: 'error',
    id: 7,
    error: { code, message: expect.stringMatching(message) as string },
  });
  await expectWell();
});

test('no name of a run leads out of the directory of runs', async () => {
  const victim = path.join(node.home.directory, 'victim');
  mkdirSync(victim);
  writeFileSync(path.join(victim, 'file'), 'kept');
  const names = [
    '../victim',
    '..',
    '.',
    '',
    '/tmp',
    'a/b',
    'a\0',
    '-rf',
    'x'.repeat(65),
  ];
  for (const run of names) {
    for (const { method, body } of [
      ...[prepare, begin],
      { method: 'acknowledge', body: { sequence: 2 ** 40 } },
      { method: 'stop', body: {} },
    ]) {
      expect(
        await answerTo({ ...request, method, body: { ...body, run } }),
      ).toMatchObject({
        error: {
          code: 'REQUEST_INVALID',
          message: expect.stringMatching(
            `^${method}: run: a run’s id has 1 to 64`,
          ) as string,
        },
      });
    }
  }
  expect(existsSync(path.join(victim, 'file'))).toBe(true);
  expect(existsSync(path.join(victim, 'run.json'))).toBe(false);
});

test('what only a newer version would say is left out, and the rest is done', async () => {
  const body = { run: 'good', after: 0, colour: 'red' };
  const more = { ...request, method: 'subscribe', body, priority: 3 };
  expect(await answerTo(more)).toMatchObject({ type: 'reply', id: 7 });
});

test('one who asks and does not read is not heard any longer, and others are', async () => {
  const ask = encodeFrame({ ...request, method: 'runs', body: {} });
  const socket = connect(node.home.socket).on('error', () => undefined);
  const many = Buffer.concat(Array.from({ length: 2000 }, () => ask));
  let taken = true;
  for (let round = 0; round < 200 && taken; round++) {
    taken = socket.write(many);
    await new Promise(setImmediate);
    await node.connection.request('ping', {});
  }
  expect(taken).toBe(false);
  await expectWell();
  socket.destroy();
});

const MESSAGES = effort({ quick: 1000, soak: 100_000 });
const LAST = 2 ** 40;

test(`${MESSAGES} messages that are nearly real`, async () => {
  const random = generator(seed);
  const codes = new Set<string>();
  for (let sent = 0; sent < MESSAGES;) {
    const stranger = new Stranger();
    const some = 1 + Math.floor(40 * random());
    for (let index = 0; index < some; index++) {
      const message = { ...request, id: index, ...oneOf(random, REAL) };
      stranger.write(encodeFrame(mutant(random, message)));
    }
    stranger.write(encodeFrame({ ...request, id: LAST, method: 'ping', body: {} }));
    await stranger.answer(LAST);
    // Whose length is wrong, the rest of it may be awaited.
    stranger.write(
      mangled(random, encodeFrame({ ...request, ...oneOf(random, REAL) })),
    );
    stranger.end();
    await stranger.closed;
    for (const code of stranger.codes) codes.add(code);
    sent += some + 1;
  }
  // Nothing that a client sends is our own fault.
  expect(codes).not.toContain('INTERNAL');
  expect(codes).toContain('REQUEST_INVALID');
  await expectWell();
});
