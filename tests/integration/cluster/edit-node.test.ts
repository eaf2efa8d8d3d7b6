/**
 * A machine that is there is changed at the command line: two real servers, of which it means
 * first the one, then the other.
 */
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
import type { NodeEntry } from '../../../src/shared/machines/node-entry.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer } from '../../harness/sshd.ts';

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
