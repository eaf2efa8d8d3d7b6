/**
 * A machine that is there is changed, at the command line and in the app: two real servers,
 * of which it means first the one, then the other.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test,
} from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import type { NodeEntry } from '../../../src/shared/machines/node-entry.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import type { OpenQuestion } from '../../../src/shared/machines/ssh-question.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { until, untilAsync } from '../../harness/processes.ts';
import { makeKey, SshServer } from '../../harness/sshd.ts';

const REFUSED: readonly (readonly [readonly string[], string])[] = [
  [['box'], 'NODE_INVALID: no change was requested'],
  [['bux', '--port', '1'], 'Did you mean "box"?'],
  [['this-computer', '--port', '1'], 'NODE_UNKNOWN'],
  [['box', '--port', '22abc'], '22abc is not a port (--port)'],
  [['box', '--host', ''], 'NODE_INVALID: "" is not valid: '],
  [['box', '--jump', 'j;x'], '"j;x" is not a host name (--jump)'],
  [['box', '--name', 'a b'], 'letters, digits and . _ - only (--name)'],
  [['box', '--name', 'this-computer'], 'is this computer (--name)'],
  [['box', '--name', 'other'], 'NODE_EXISTS'],
  [['box', '--unset', 'host'], '--host cannot be unset'],
  [['box', '--unset', 'jmp'], 'Did you mean jump?'],
  [['box', '--unset', 'user', '--user', 'x'], '--user is both set and unset'],
  [['box', '--time', '1:00'], '--time is a Slurm option'],
  [['box', '--slurm', '--time', 'soon'], 'days-hours:minutes:seconds (--time)'],
];

const PASSPHRASE = 'correct horse';

let one: SshServer;
let two: SshServer;
let home: GradwireHome;
let commands: CommandHost;

beforeAll(async () => {
  [one, two] = await Promise.all([SshServer.start(), SshServer.start()]);
});
afterAll(async () => {
  for (const server of [one, two]) await server?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  home = new GradwireHome();
  commands = new CommandHost(home);
});
afterEach(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

describe('at the command line', () => {
  const nodes = (...args: string[]) => commands.run(['nodes', ...args]);
  const entry = async () =>
    JSON.parse((await nodes('list', '--json', '--offline')).stdout) as NodeEntry;
  const at = ({ port, key }: SshServer) => [
    ...['--port', String(port), '--identity', key],
  ];

  test('what is given is changed, what is unset goes, all else stays', async () => {
    const more = [
      '--label',
      'a',
      '--label',
      'b',
      '--ports',
      '2000-2010',
      '--jump',
      'j',
    ];
    await nodes('add', 'box', '--host', '127.0.0.1', '--user', 'me', ...more);
    const jump = ['--jump', 'x', '--jump', 'me@[fd00::1]:22'];
    succeeded(await nodes('edit', 'box', '--port', '2222', '--label', 'c', ...jump));
    expect(await entry()).toMatchObject({
      destination: 'me@127.0.0.1:2222',
      labels: ['c'],
      ports: '2000-2010',
      jump: 'x,me@[fd00::1]:22',
    });
    const unset = ['user', 'jump', '--ports'].flatMap((one) => ['--unset', one]);
    succeeded(await nodes('edit', 'box', '--host', '[fd00::2]', ...unset));
    expect(await entry()).toEqual({
      name: 'box',
      destination: '[fd00::2]:2222',
      labels: ['c'],
      identities: [],
      runs: [],
    });
    succeeded(await nodes('edit', 'box', '--name', 'hpc', '--slurm', '--nodes', '2'));
    succeeded(await nodes('edit', 'hpc', '--partition', 'gpu', '--unset', 'nodes'));
    expect(await entry()).toMatchObject({
      name: 'hpc',
      slurm: { partition: 'gpu', setup: [], options: [] },
    });
    succeeded(await nodes('edit', 'hpc', '--unset', 'slurm'));
    expect(await entry()).not.toHaveProperty('slurm');
  });

  test(
    'what is wrong is said, in one line, and nothing is changed',
    { tags: 'soak' },
    async () => {
      for (const name of ['box', 'other']) await nodes('add', name, '--host', 'h');
      const before = (await nodes('list', '--json')).stdout;
      for (const [args, said] of REFUSED) {
        const { code, stderr } = await nodes('edit', ...args);
        expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
        expect(stderr.trim().split('\n')).toHaveLength(1);
      }
      expect((await nodes('list', '--json')).stdout).toBe(before);
    },
  );

  test(
    'the next connection goes to where it is now, whose key is not known',
    { tags: 'soak' },
    async () => {
      await nodes('add', 'box', '--host', '127.0.0.1', ...at(one));
      const accept = ['--accept-host-key', one.fingerprint()];
      succeeded(await nodes('check', 'box', ...accept));
      succeeded(await nodes('edit', 'box', ...at(two)));
      // That of the other machine does not count, not even where it is named again.
      const { stderr } = await nodes('check', 'box', ...accept);
      expect(stderr).toMatch(/^gradwire: HOST_KEY_UNKNOWN: /);
      expect(stderr).toContain(two.fingerprint());
      succeeded(await nodes('check', 'box', '--accept-host-key', two.fingerprint()));
      succeeded(await nodes('edit', 'box', ...at(one)));
      succeeded(await nodes('check', 'box'));
    },
  );

  test(
    'a run that has ended is launched again where its machine is found now',
    { tags: 'soak' },
    async () => {
      await nodes('add', 'box', '--host', '127.0.0.1', ...at(one));
      succeeded(await nodes('check', 'box', '--accept-host-key', one.fingerprint()));
      const settings = ['world.nodes=[box]', 'world.ranks=1', 'iterations=2'];
      succeeded(await home.startQuickstart(settings).finished);
      succeeded(await nodes('edit', 'box', '--name', 'crate'));
      const again = succeeded(await home.run(['runs', 'relaunch', 'last', '--json']));
      expect(again.stdout).toMatch(/"type":"started"[^\n]*"node":"crate"/);
      const { code, stderr } = await nodes('check', 'box');
      expect(code).toBe(2);
      expect(stderr).toBe(
        'gradwire: NODE_UNKNOWN: there is no machine named "box". It was renamed: use "crate".\n',
      );
    },
  );

  test(
    'under a live run it goes on to mean its machine, by whatever way',
    { tags: 'soak' },
    async () => {
      await nodes('add', 'box', '--host', '127.0.0.1', ...at(one));
      succeeded(await nodes('check', 'box', '--accept-host-key', one.fingerprint()));
      const run = home.startQuickstart([
        ...['world.nodes=[this-computer, box]', 'world.ranks=2', 'iterations=1000000'],
      ]);
      await run.record('iteration');
      for (const change of [['--name', 'crate'], ['--slurm'], ['--port', '1']]) {
        const { code, stderr } = await nodes('edit', 'box', ...change);
        expect(code).toBe(2);
        expect(stderr).toMatch(
          /NODE_IN_USE: run \w+ \(.*\) has ranks on box: .* cannot/,
        );
      }
      // A new key: the connection that the run is followed by is lost, and made with it.
      const key = makeKey(path.join(one.directory, 'new'));
      const host = ['--host', 'localhost', '--identity', key];
      const config = ['--same-machine', '--address', '127.0.0.1'];
      succeeded(await nodes('edit', 'box', ...host, ...config));
      const accept = ['--accept-host-key', one.fingerprint()];
      one.authorize(key);
      succeeded(await nodes('check', 'box', ...accept));
      one.authorizeOnly(key);
      await one.cutSessions();
      // Ranks go in step: what rank 1 records from here on has come over the new way.
      const reached = Math.max(
        ...run.records.map((record) =>
          record.type === 'iteration' ? record.iteration : 0,
        ),
      );
      await run.record(
        'iteration',
        (record) => record.rank === 1 && record.iteration > reached + 5,
      );
      succeeded(await home.run(['runs', 'stop', 'last']));
      succeeded(await run.finished);
      expect(run.records.at(-1)).toMatchObject({ type: 'done', consistent: true });
    },
  );
});

describe('in the app', () => {
  let directory: string;
  let core: AppCore;
  let questions: readonly OpenQuestion[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-edit-'));
    core = await createAppCore({
      home: resolveHome({ GRADWIRE_HOME: home.directory }),
      host: 'browser',
    });
    questions = [];
    core.onEvent((event, ...args) => {
      if (event === 'questionsChanged') questions = args[0] as readonly OpenQuestion[];
    });
  });
  afterEach(async () => {
    await core.close();
    await rm(directory, { recursive: true });
  });

  const entryAt = ({ port }: SshServer, key: string): NodeEntry => ({
    name: 'box',
    destination: `127.0.0.1:${port}`,
    identities: [key],
    labels: [],
  });
  const box = async (): Promise<NodeStatus> =>
    (await core.api.nodes()).find(({ entry }) => entry !== undefined)!;
  const question = async (): Promise<OpenQuestion> =>
    (
      await until(
        () => questions,
        (all) => all.length > 0,
        'a question',
      )
    )[0]!;
  const answer = async (
    to: Parameters<typeof core.api.answer>[1],
  ): Promise<unknown> => {
    const asked = await question();
    await core.api.answer(asked.id, to);
    return asked.question;
  };
  const locked = (server: SshServer, name: string): string => {
    const key = makeKey(path.join(directory, name), { passphrase: PASSPHRASE });
    server.authorize(key);
    return key;
  };

  async function checkOne(key: string): Promise<void> {
    await core.api.addNode(entryAt(one, key));
    const checked = core.api.checkNode('box');
    await answer({ type: 'accept' });
    await answer({ type: 'secrets', answers: [PASSPHRASE] });
    await checked;
  }

  test('another address closes the connection, and forgets what was known and typed', async () => {
    const key = locked(one, 'locked');
    two.authorize(key);
    await checkOne(key);
    expect((await box()).preflight).toBeDefined();
    // Its log-in is kept: nothing is asked.
    await core.api.checkNode('box');
    const shown = (await box()).entry;
    expect(one.sessions()).not.toEqual([]);

    await core.api.editNode('box', entryAt(two, key), { shown });
    await until(
      () => one.sessions(),
      (left) => left.length === 0,
      'the connection to be closed',
    );
    const { preflight, checkedAt } = await box();
    expect([preflight, checkedAt]).toEqual([undefined, undefined]);
    const checked = core.api.checkNode('box');
    expect(await answer({ type: 'accept' })).toMatchObject({
      type: 'host-key',
      reason: 'unknown',
      fingerprint: two.fingerprint(),
    });
    await answer({ type: 'secrets', answers: [PASSPHRASE] });
    await checked;
    expect(two.sessions()).not.toEqual([]);
  });

  test(
    'labels and a name leave it connected, and what was seen is seen',
    { tags: 'soak' },
    async () => {
      await checkOne(locked(one, 'named'));
      const sessions = one.sessions();
      const { entry, checkedAt } = await box();
      const changed = { ...entry!, name: 'crate', labels: ['new'] };
      await core.api.editNode('box', changed, { shown: entry });
      expect(await box()).toMatchObject({ name: 'crate', checkedAt });
      await core.api.checkNode('crate');
      expect(one.sessions()).toEqual(sessions);
      await expect(
        core.api.editNode('crate', entry, { shown: entry }),
      ).rejects.toMatchObject({ code: 'NODE_CHANGED' });
    },
  );

  test(
    'a live run is followed over the new way at once',
    { tags: 'soak' },
    async () => {
      one.authorize(one.key);
      const box = { ...entryAt(one, one.key), address: '127.0.0.1' };
      await core.api.addNode(box);
      const checked = core.api.checkNode('box');
      await answer({ type: 'accept' });
      await checked;
      const { id } = await core.api.launch({
        name: 'live',
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 2, nodes: ['this-computer', 'box'] },
        ...LASTING_SPEC,
      });
      const isAt = async (iteration: number): Promise<unknown> =>
        await untilAsync(
          () => core.api.run(id),
          ({ iterations }) => iterations > iteration,
          `iteration ${iteration}`,
        );
      await isAt(0);
      const before = one.sessions();
      const key = makeKey(path.join(directory, 'new'));
      one.authorize(key);
      await core.api.editNode('box', { ...box, identities: [key] }, { shown: box });
      await until(
        () => one.sessions(),
        (now) =>
          now.length > 0 &&
          now.every(({ pid }) => before.every((old) => old.pid !== pid)),
        'the connection to be another',
      );
      await isAt((await core.api.run(id)).iterations + 10);

      // A key that is refused is tried four more times, since its home may not be mounted yet, and
      // then not again until the user checks the machine.
      const connection = async (): Promise<string> =>
        (await core.api.nodes()).find(({ entry }) => entry !== undefined)!.connection;
      const isNow = async (state: string): Promise<unknown> =>
        await untilAsync(connection, (now) => now === state, state);
      const refusals = (): number => one.log.split('Failed publickey').length;
      const earlier = refusals();
      one.authorizeOnly(one.key);
      await one.cutSessions();
      await isNow('refused');
      expect(refusals()).toBe(earlier + 5);
      await expect(core.api.checkNode('box')).rejects.toMatchObject({
        code: 'SSH_AUTH_FAILED',
      });
      one.authorize(key);
      await core.api.checkNode('box');
      await isNow('connected');
      await isAt((await core.api.run(id)).iterations + 10);
      await core.api.order(id, { type: 'stop' });
      const ended = await untilAsync(
        () => core.api.run(id),
        ({ endedAt }) => endedAt !== undefined,
        'the run to end',
      );
      expect(ended.state).toBe('stopped');
    },
  );

  test('an open question belongs to the address that asked it', async () => {
    const key = locked(one, 'asked');
    await core.api.addNode(entryAt(one, key));
    const checking = core.api.checkNode('box');
    checking.catch(() => undefined);
    const asked = await question();
    await expect(core.api.editNode('box', entryAt(two, key), {})).rejects.toMatchObject(
      { code: 'NODE_BUSY' },
    );
    // A command does not know: the app learns of it, and withdraws what it has asked.
    const port = ['--port', String(two.port)];
    succeeded(await home.run(['nodes', 'edit', 'box', ...port]));
    await expect(checking).rejects.toMatchObject({ code: 'ABORTED' });
    expect(questions).toEqual([]);
    await expect(core.api.answer(asked.id, { type: 'accept' })).rejects.toMatchObject({
      code: 'QUESTION_GONE',
    });
    await untilAsync(
      () => box(),
      ({ activity }) => activity === undefined,
      'the check to be over',
    );
    expect((await box()).error).toBeUndefined();
  });
});
