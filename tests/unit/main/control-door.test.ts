/**
 * Machines that say what no supervisor says: the app's end of the connection, over a stream as
 * SSH gives it. Whoever waits gets one coded error that names the machine; the rest goes on.
 */
import { duplexPair, type Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { makeCatalogue } from '../../../src/agent/launch/catalogue.ts';
import { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { encodeFrame } from '../../../src/shared/protocol/frame.ts';
import type { RunStatus } from '../../../src/shared/protocol/supervisor.ts';
import { effort, seed } from '../../harness/effort.ts';
import { below, mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { done, iterationRecord, sampleSpec } from './sample-records.ts';

const HELLO = {
  type: 'hello',
  protocol: 1,
  reading: 1,
  version: '1.0.0',
  pid: 7,
  host: 'b7',
  cores: 4,
  catalogue: makeCatalogue(),
};
const STATUS = {
  run: 'r',
  phase: 'running',
  spec: sampleSpec(),
  lastSequence: 9,
  createdAt: 1,
  ranks: [0, 1],
};

interface Line {
  readonly there: Duplex;
  readonly opened: Promise<ControlConnection>;
  readonly pushed: unknown[];
  readonly push: (entries: readonly unknown[]) => void;
  readonly subscribed: () => void;
  readonly lost: Promise<GradwireError>;
}

function call(): Line {
  const [here, there] = duplexPair({ allowHalfOpen: false });
  there.on('error', () => undefined).resume();
  const pushed: unknown[] = [];
  const { promise: lost, resolve } = Promise.withResolvers<GradwireError>();
  const handlers = {
    run: (run: RunStatus) => void pushed.push(run),
    lost: resolve,
  };
  const opened = ControlConnection.open(here, handlers, 'box');
  opened.catch(() => undefined);
  const push = (entries: readonly unknown[]): void => void pushed.push(entries);
  return { there, opened, pushed, push, subscribed: () => undefined, lost };
}

const say = ({ there }: Line, message: unknown): void => {
  there.write(encodeFrame(message));
};

test.each<[string, Buffer | object, string, RegExp]>([
  [
    'a shell’s greeting',
    Buffer.from('Welcome to box7!\n'),
    'FRAME_TOO_LARGE',
    /control frame/,
  ],
  [
    'a frame that is no message',
    Buffer.from([1, 0, 0, 0, 0xc0]),
    'PROTOCOL_MISMATCH',
    /not null$/,
  ],
  [
    'a hello without a catalogue',
    { ...HELLO, catalogue: undefined },
    'PROTOCOL_MISMATCH',
    /catalogue is missing$/,
  ],
  [
    'a catalogue of something else',
    { ...HELLO, catalogue: { ...HELLO.catalogue, methods: [7] } },
    'PROTOCOL_MISMATCH',
    /catalogue\.methods\.0: expected a section with keys, not 7$/,
  ],
  [
    'an answer before the hello',
    { type: 'reply', id: 1, body: {} },
    'PROTOCOL_MISMATCH',
    /before the hello/,
  ],
])('%s ends the attempt, by the machine’s name', async (_, said, code, message) => {
  const line = call();
  if (Buffer.isBuffer(said)) line.there.write(said);
  else say(line, said);
  await expect(line.opened).rejects.toMatchObject({
    code,
    place: 'box',
    message: expect.stringMatching(message) as string,
  });
});

test.each<[string, unknown, RegExp]>([
  ['nothing', undefined, /runs.* is empty$|runs.*is missing$/],
  ['no list', { runs: {} }, /runs: expected a list/],
  ['a run that is none', { runs: [STATUS, null] }, /runs\.1: .* not null$/],
  [
    'a run whose id is a path',
    { runs: [{ ...STATUS, run: '../..' }] },
    /runs\.0\.run: a run’s id has/,
  ],
  [
    'a spec that is none',
    { runs: [{ ...STATUS, spec: { ...STATUS.spec, world: null } }] },
    /runs\.0\.spec\.world: .* not null$/,
  ],
  [
    'bytes in place of a section',
    { runs: [{ ...STATUS, spec: { ...STATUS.spec, world: new Uint8Array(9) } }] },
    /runs\.0\.spec\.world/,
  ],
])('a reply with %s concerns its request alone', async (_, body, message) => {
  const line = call();
  say(line, HELLO);
  const connection = await line.opened;
  const asked = connection.request('runs', {});
  say(line, { type: 'reply', id: 1, body });
  await expect(asked).rejects.toMatchObject({
    code: 'REPLY_INVALID',
    place: 'box',
    message: expect.stringMatching(message) as string,
  });
  const again = connection.request('runs', {});
  // What only a newer version would say is left out.
  const newer = { ...STATUS, colour: 'red', spec: { ...STATUS.spec, tint: 5 } };
  say(line, { type: 'reply', id: 2, body: { runs: [newer] } });
  expect((await again).runs).toEqual([STATUS]);
  await connection.close();
});

test('the runs of another version’s supervisor are read, and its catalogue is not', async () => {
  const line = call();
  say(line, { ...HELLO, protocol: 2, catalogue: 'elsewhere', cores: undefined });
  const connection = await line.opened;
  expect(connection.readsOnly).toBe(true);
  const asked = connection.request('runs', {});
  const ending = { type: 'done', of: 'another version' };
  const ended = { ...STATUS, phase: 'ended', ending };
  say(line, { type: 'reply', id: 1, body: { runs: [ended] } });
  expect((await asked).runs).toEqual([
    { ...STATUS, phase: 'ended', ending: undefined },
  ]);
  await connection.close();
});

const MESSAGES = effort({ quick: 500, soak: 100_000 });

test(`${MESSAGES} messages that are nearly a supervisor’s`, async () => {
  const random = generator(seed);
  const planned = {
    epoch: 1,
    notBefore: 3,
    residual: 'flush',
    plan: { method: 'none', parameters: {}, collective: 'ring', bucketBytes: 4096 },
  };
  const replies = [{ runs: [STATUS] }, { switch: planned }, { lastSequence: 4 }, {}];
  const methods = ['runs', 'switch', 'subscribe', 'ping'] as const;
  const pushes = [
    { type: 'records', run: 'r', entries: [{ sequence: 1, record: done }] },
    {
      type: 'records',
      run: 'r',
      entries: [{ sequence: 2, record: iterationRecord(0, 1) }],
    },
    { type: 'run', run: STATUS },
    { type: 'error', id: 3, error: { code: 'X', kind: 'failure', message: 'x' } },
    HELLO,
  ];
  const codes = new Map<string, number>();
  const note = (error: unknown): void => {
    // Anything else would be a bug that a machine can cause.
    if (!(error instanceof GradwireError)) throw error;
    expect(error.code).not.toBe('INTERNAL');
    if (error.code !== 'X') expect(error.place ?? error.message).toMatch(/box|lost|X/);
    codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
  };
  let [sent, answered, pushed] = [0, 0, 0];
  while (sent < MESSAGES) {
    const line = call();
    const first = random() < 0.1 ? mutant(random, HELLO) : HELLO;
    say(line, first);
    sent++;
    let connection: ControlConnection;
    try {
      if (first !== HELLO) line.there.end();
      connection = await line.opened;
    } catch (error) {
      note(error);
      continue;
    }
    const waiting: Promise<unknown>[] = [];
    for (let left = 1 + below(random, 60); left > 0; left--) {
      const which = below(random, methods.length);
      const id = waiting.length + 1;
      const body = { run: 'r', change: {}, after: 0 };
      const method = methods[which]!;
      const asked =
        method === 'subscribe'
          ? connection.subscribe('r', 0, line)
          : connection.request(method, body as never);
      waiting.push(asked.then(() => answered++, note));
      const reply = { type: 'reply', id, body: mutant(random, replies[which]) };
      const push = oneOf(random, pushes);
      const other = random() < 0.3 ? mutant(random, push) : push;
      const message = random() < 0.9 ? reply : other;
      const frame = encodeFrame(message);
      line.there.write(random() < 0.97 ? frame : mangled(random, frame));
      sent++;
    }
    line.there.end();
    await Promise.all(waiting);
    await line.lost.then(note, () => undefined);
    pushed += line.pushed.length;
  }
  expect(answered).toBeGreaterThan(0);
  expect(pushed).toBeGreaterThan(0);
  expect([...codes.keys()]).toEqual(
    expect.arrayContaining(['REPLY_INVALID', 'PROTOCOL_MISMATCH', 'SUPERVISOR_LOST']),
  );
});
