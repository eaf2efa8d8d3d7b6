/** Machines that reach each other by no way but this computer. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import {
  GradwireHome,
  type RunningCommand,
  succeeded,
} from '../../harness/gradwire.ts';
import { namespacesMissing, RankNamespaces } from '../../harness/namespaces.ts';
import { until } from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';

const missing = namespacesMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;

const notices = (records: readonly RunRecord[], code: string): readonly string[] =>
  records.flatMap((record) =>
    record.type === 'notice' && record.code === code ? [record.message] : [],
  );

describe.skipIf(missing !== undefined)(`machines with a firewall${because}`, () => {
  let namespaces: RankNamespaces;
  const servers: SshServer[] = [];
  let home: GradwireHome;

  beforeAll(async () => {
    // The last one forwards nothing.
    namespaces = new RankNamespaces({ ranks: 3 });
    home = new GradwireHome();
    for (const [node, host] of namespaces.hosts.entries()) {
      const place = { host, prefix: namespaces.prefix(node) };
      const server = await SshServer.start({ shellStart, place, forwarding: node < 2 });
      servers.push(server);
      const { port, key } = server;
      const added = await home.run([
        ...['nodes', 'add', `m${node}`, '--host', host, '--port', String(port)],
        ...['--identity', key],
      ]);
      expect(added).toMatchObject({ code: 0 });
      const accept = ['--accept-host-key', server.fingerprint()];
      const checked = await home.run(['nodes', 'check', `m${node}`, ...accept]);
      expect(checked).toMatchObject({ code: 0 });
    }
    for (const [a, b] of [
      [0, 1],
      [0, 2],
    ] as const) {
      namespaces.part(a, b);
    }
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
    namespaces?.[Symbol.dispose]();
  });

  const start = (
    nodes: readonly string[],
    settings: readonly string[],
  ): RunningCommand =>
    home.startQuickstart([
      ...[`world.nodes=[${nodes.join(', ')}]`, 'world.ranks=2', 'evaluateEvery=0'],
      ...settings,
    ]);
  /** Until nothing listens on a machine's loopback. */
  const closed = async (node: number): Promise<void> => {
    const loopback = ['ss', '-Hltn', 'src', '127.0.0.1'];
    const command = ['netns', 'exec', namespaces.names[node]!, ...loopback];
    await until(
      () => execFileSync('ip', command, { encoding: 'utf8' }),
      (ports) => ports === '',
      'the tunnels to be closed',
    );
  };

  test('train through tunnels, are told so, and leave none behind', async () => {
    const run = start(['m0', 'm1'], ['iterations=20']);
    succeeded(await run.finished);
    expect(run.records.at(-1)).toMatchObject({ type: 'done', consistent: true });
    expect(notices(run.records, 'PEER_TUNNELLED')).toEqual([
      expect.stringMatching(/^rank 0 on m0 is reached through an SSH tunnel/),
    ]);
    await closed(1);
  });

  test(
    'train so where the system’s ssh makes the connection, too',
    { tags: 'soak' },
    async () => {
      const { host, port, key } = servers[1]!;
      const added = await home.run([
        ...['nodes', 'add', 'm1-by-ssh', '--host', host, '--port', String(port)],
        ...['--identity', key, '--transport', 'system'],
      ]);
      expect(added).toMatchObject({ code: 0 });
      const run = start(['m0', 'm1-by-ssh'], ['iterations=5']);
      succeeded(await run.finished);
      expect(notices(run.records, 'PEER_TUNNELLED')).toHaveLength(1);
      await closed(1);
    },
  );

  test('need none with this computer', { tags: 'soak' }, async () => {
    const run = start(['this-computer', 'm1'], ['iterations=20']);
    succeeded(await run.finished);
    expect(notices(run.records, 'PEER_TUNNELLED')).toEqual([]);
  });

  test(
    'lose each other with the app that they go through',
    { tags: 'soak' },
    async () => {
      const run = start(['m0', 'm1'], ['iterations=1000000']);
      await run.record('iteration');
      // No connection is taken any more, and those that were taken stay.
      await closed(1);
      run.child.kill('SIGKILL');
      await run.finished;
      const attached = await home.run(['runs', 'attach', 'last', '--json']);
      expect(attached.code).toBe(1);
      expect(attached.stdout).toMatch(/"type":"failed".*PEER_(LOST|SILENT)/);
    },
  );

  test(
    'are both named when the tunnel between them breaks, and no process is blamed',
    { tags: 'soak' },
    async () => {
      const run = start(['m0', 'm1'], ['iterations=1000000']);
      await run.record('iteration');
      await closed(1);
      await servers[1]!.cutSessions();
      const { code, stderr } = await run.finished;
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /PEER_LOST: the SSH tunnel between rank 0 on m0 and rank 1 on m1 was closed \(m[01]\)\. It leads through the computer/,
      );
      // A process that was killed is named as such, tunnel or not.
      const second = start(['m0', 'm1'], ['iterations=1000000']);
      // Each machine reports its own.
      const ofOne = ({ rank }: { readonly rank: number }): boolean => rank === 1;
      const { processes } = await second.record('started', (record) =>
        record.processes.some(ofOne),
      );
      await second.record('iteration');
      process.kill(processes.find(ofOne)!.pid, 'SIGKILL');
      const died = await second.finished;
      expect(died.code).toBe(1);
      expect(died.stderr).toMatch(/WORKER_DIED: .*rank 1/);
    },
  );

  test('are named where no tunnel can be had either', { tags: 'soak' }, async () => {
    const run = start(['m0', 'm2'], ['iterations=20']);
    const { code, stderr } = await run.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /PEER_UNREACHABLE: rank \d on m[02] cannot be reached at 10\.\S+ \(EHOSTUNREACH\)/,
    );
  });
});

describe.skipIf(missing !== undefined)(`keys renewed every 64 KiB${because}`, () => {
  const iterations = 60;
  const weightsOf = ({ records }: RunningCommand): string => {
    const done = records.at(-1);
    if (done?.type !== 'done') throw new Error(`it ended with ${JSON.stringify(done)}`);
    expect(done).toMatchObject({ reason: 'completed', consistent: true });
    return done.weights!;
  };

  test.each(['builtin', 'system'])(
    'do not change a training through tunnels, by the %s client',
    { tags: 'soak' },
    async (transport) => {
      using namespaces = new RankNamespaces({ ranks: 2 });
      await using home = new GradwireHome();
      await using machines = new AsyncDisposableStack();
      const renewing: SshServer[] = [];
      // OpenSSH's first choice, a post-quantum exchange, takes its time.
      const kex = 'KexAlgorithms curve25519-sha256';
      for (const [node, host] of namespaces.hosts.entries()) {
        const name = `m${node}`;
        const place = { host, prefix: namespaces.prefix(node) };
        const server = machines.use(
          await SshServer.start({
            shellStart,
            place,
            config: ['RekeyLimit 64K none', 'LogLevel DEBUG1', kex],
          }),
        );
        renewing.push(server);
        // Our side, too, where it can: ssh2 never begins a renewal.
        const config = path.join(server.directory, 'config');
        writeFileSync(
          config,
          [
            `Host ${name}`,
            ...[
              `HostName ${host}`,
              `Port ${server.port}`,
              `IdentityFile ${server.key}`,
            ],
            ...[`UserKnownHostsFile ${server.knownHosts}`, 'RekeyLimit 64K', ''],
          ].join('\n'),
        );
        succeeded(await home.run(['nodes', 'import', '--config', config, name]));
        succeeded(await home.run(['nodes', 'edit', name, '--transport', transport]));
        succeeded(await home.run(['nodes', 'check', name]));
      }
      namespaces.part(0, 1);
      const settings = ['world.ranks=2', `iterations=${iterations}`, 'evaluateEvery=0'];
      const tunnelled = home.startQuickstart(['world.nodes=[m0, m1]', ...settings]);
      succeeded(await tunnelled.finished);
      expect(notices(tunnelled.records, 'PEER_TUNNELLED')).toHaveLength(1);
      const undisturbed = home.startQuickstart(settings);
      succeeded(await undisturbed.finished);
      expect(weightsOf(tunnelled)).toBe(weightsOf(undisturbed));
      for (const { log } of renewing) {
        expect(log.match(/set_newkeys: rekeying out/g)!.length).toBeGreaterThan(50);
      }
    },
  );
});
