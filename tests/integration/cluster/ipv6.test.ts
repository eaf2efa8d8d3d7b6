/**
 * Machines by their IPv6 addresses, from what is typed to the ranks: a real sshd at ::1, and
 * two machines that have unique local addresses of IPv6 and no others.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import {
  ipv6Missing,
  namespacesMissing,
  RankNamespaces,
} from '../../harness/namespaces.ts';
import { SshServer } from '../../harness/sshd.ts';

const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
const skipped = (why: string | undefined): string =>
  why === undefined ? '' : ` (skipped: ${why})`;

async function train(
  home: GradwireHome,
  settings: readonly string[],
): Promise<readonly RunRecord[]> {
  const run = home.startQuickstart([
    ...['world.ranks=2', 'iterations=10', 'evaluateEvery=0', ...settings],
  ]);
  succeeded(await run.finished);
  expect(run.records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  return run.records;
}

const codesOf = (records: readonly RunRecord[]): readonly string[] =>
  records.flatMap((record) => (record.type === 'notice' ? [record.code] : []));

describe.skipIf(ipv6Missing() !== undefined)(
  `a machine at ::1${skipped(ipv6Missing())}`,
  () => {
    let server: SshServer;
    let home: GradwireHome;
    let login: readonly string[];
    const nodes = (...args: string[]) => home.run(['nodes', ...args]);

    beforeAll(async () => {
      server = await SshServer.start({
        shellStart,
        place: { host: '::1', prefix: [] },
      });
      home = new GradwireHome();
      login = ['--port', String(server.port), '--identity', server.key];
    });
    afterAll(async () => {
      await home[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    test('is checked by both clients; its key is kept as OpenSSH keeps it', async () => {
      const place = `[::1]:${server.port}`;
      succeeded(await nodes('add', 'six', '--host', '::1', ...login));
      const { stderr } = await nodes('check', 'six');
      expect(stderr).toMatch(/HOST_KEY_UNKNOWN: ::1 presents/);
      expect(stderr).toContain(`@${place})`);
      const accept = ['--accept-host-key', server.fingerprint()];
      succeeded(await nodes('check', 'six', ...accept));
      const known = readFileSync(path.join(home.directory, 'known_hosts'), 'utf8');
      expect(known).toBe(`${place} ${server.hostKey()}\n`);
      // Other spellings of the same address, in brackets, and the system's own client.
      const full = ['--host', '[0:0::0:1]'];
      succeeded(await nodes('add', 'long', ...full, ...login));
      for (const transport of ['builtin', 'system']) {
        succeeded(await nodes('edit', 'long', '--transport', transport));
        const seen = await nodes('check', 'long', '--json');
        expect(seen).toMatchObject({ code: 0, stderr: '' });
        expect(JSON.parse(seen.stdout)).toMatchObject({
          connection: { client: '::1', server: '::1' },
          transport: { kind: transport },
        });
      }
    });

    test.each(effort({ quick: ['tcp'], soak: ['tcp', 'native'] }))(
      'trains beside this computer, over %s',
      { tags: 'soak' },
      async (transport) => {
        const records = await train(home, [
          ...['world.nodes=[this-computer, six]', `transport=${transport}`],
        ]);
        expect(codesOf(records)).not.toContain('PEER_ADDRESS');
        expect(codesOf(records)).not.toContain('PEER_TUNNELLED');
      },
    );

    test('an address for ranks is taken with brackets, and refused with a port', async () => {
      succeeded(await nodes('edit', 'six', '--address', '[::1]'));
      const { stdout } = await nodes('list', '--json');
      expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({ address: '::1' });
      for (const [address, why] of [
        ['[::1]:22', 'without a port'],
        ['box:22', 'without a port'],
        ['fe80::1%eth0', 'one link only'],
      ] as const) {
        const { code, stderr } = await nodes('edit', 'six', '--address', address);
        expect([code, stderr]).toEqual([
          2,
          expect.stringMatching(`${why}.* \\(--address\\)`),
        ]);
      }
    });
  },
);

const missing = namespacesMissing() ?? ipv6Missing();

test.skipIf(missing !== undefined)(
  'a machine at an address of one link is reached by its zone, by either client',
  { tags: 'soak' },
  async () => {
    using namespaces = new RankNamespaces({ ranks: 1, family: 6 });
    const [name] = namespaces.names;
    const address = ['address', 'add', 'fe80::77/64', 'dev', 'lo', 'nodad'];
    execFileSync('ip', ['-n', name!, ...address]);
    const host = 'fe80::77%lo';
    await using server = await SshServer.start({
      shellStart,
      place: { host, prefix: namespaces.prefix(0) },
    });
    await using home = new GradwireHome();
    // The command is on that link, too.
    const shell = `exec ip netns exec ${name!} "$@"`;
    const run = (...args: readonly string[]) => home.start(args, { shell }).finished;
    const login = ['--port', String(server.port), '--identity', server.key];
    succeeded(await run('nodes', 'add', 'near', '--host', host, ...login));
    const { stderr } = await run('nodes', 'check', 'near');
    expect(stderr).toMatch(
      /HOST_KEY_UNKNOWN: fe80::77%lo presents .*\(\S+@\[fe80::77%lo\]:\d+\)/,
    );
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await run('nodes', 'check', 'near', ...accept));
    for (const transport of ['builtin', 'system']) {
      succeeded(await run('nodes', 'edit', 'near', '--transport', transport));
      succeeded(await run('nodes', 'check', 'near'));
    }
    const set = ['world.nodes=[near]', 'world.ranks=2', 'iterations=5'];
    succeeded(await run('run', 'quickstart', ...set.flatMap((one) => ['--set', one])));
    succeeded(await run('nodes', 'edit', 'near', '--host', 'fe80::77%gone'));
    const lost = await run('nodes', 'check', 'near');
    expect(lost).toMatchObject({ code: 1 });
    expect(`${lost.stdout}${lost.stderr}`).toContain('%gone');
    expect(`${lost.stdout}${lost.stderr}`).not.toContain('INTERNAL');
  },
);

describe.skipIf(missing !== undefined)(
  `machines that have IPv6 alone${skipped(missing)}`,
  () => {
    let namespaces: RankNamespaces;
    let servers: readonly SshServer[];
    let home: GradwireHome;

    beforeAll(async () => {
      namespaces = new RankNamespaces({ ranks: 2, family: 6 });
      servers = await Promise.all(
        namespaces.hosts.map((host, rank) =>
          SshServer.start({
            shellStart,
            place: { host, prefix: namespaces.prefix(rank) },
          }),
        ),
      );
      home = new GradwireHome();
      for (const [index, { host, port, key, fingerprint }] of servers.entries()) {
        const name = `six-${index}`;
        const login = ['--host', host, '--port', String(port), '--identity', key];
        succeeded(await home.run(['nodes', 'add', name, ...login]));
        const accept = ['--accept-host-key', fingerprint.call(servers[index])];
        succeeded(await home.run(['nodes', 'check', name, ...accept]));
      }
    });
    afterAll(async () => {
      await home[Symbol.asyncDispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
      namespaces[Symbol.dispose]();
    });

    test.each(effort({ quick: ['native'], soak: ['tcp', 'native'] }))(
      'train together, over %s',
      { tags: 'soak' },
      async (transport) => {
        const addresses = execFileSync(
          'ip',
          [
            '-n',
            namespaces.names[0]!,
            '-o',
            'address',
            'show',
            'dev',
            'eth0',
            'scope',
            'global',
          ],
          { encoding: 'utf8' },
        );
        expect(addresses.trim().split('\n')).toHaveLength(1);
        expect(addresses).toContain(` inet6 ${servers[0]!.host}/64 `);
        const nodes = ['world.nodes=[six-0, six-1]', `transport=${transport}`];
        const codes = codesOf(await train(home, nodes));
        expect(codes).not.toContain('PEER_TUNNELLED');
        expect(codes).not.toContain('PEER_ADDRESS');
      },
    );

    test(
      'one behind a jump host finds this computer at an address of its own',
      { tags: 'soak' },
      async () => {
        const [outer, inner] = servers as [SshServer, SshServer];
        const config = path.join(inner.directory, 'config');
        const login = (name: string, { key, knownHosts }: SshServer): string =>
          `Host ${name}\nIdentityFile ${key}\nUserKnownHostsFile ${knownHosts}\n`;
        writeFileSync(
          config,
          `${login(outer.host, outer)}${login('inner', inner)}HostName ${inner.host}\n` +
            `Port ${inner.port}\nProxyJump [${outer.host}]:${outer.port}\n`,
        );
        succeeded(await home.run(['nodes', 'import', '--config', config, 'inner']));
        for (const transport of ['system', 'builtin']) {
          const log = outer.log.length;
          succeeded(
            await home.run(['nodes', 'edit', 'inner', '--transport', transport]),
          );
          succeeded(await home.run(['nodes', 'check', 'inner']));
          expect(outer.log.slice(log)).toMatch(/Accepted publickey/);
        }
        const records = await train(home, ['world.nodes=[this-computer, inner]']);
        // What it sees of this computer is the jump host; who is dialled is the upper rank.
        expect(codesOf(records)).not.toContain('PEER_TUNNELLED');
        const leads = await train(home, ['world.nodes=[inner, this-computer]']);
        expect(codesOf(leads)).not.toContain('PEER_TUNNELLED');
      },
    );

    test(
      'with one that is known by IPv4, both reach this computer and each other',
      { tags: 'soak' },
      async () => {
        const host = namespaces.alsoIpv4(1);
        await using server = await SshServer.start({
          shellStart,
          place: { host, prefix: namespaces.prefix(1) },
        });
        const { port, key } = server;
        const login = ['--host', host, '--port', String(port), '--identity', key];
        succeeded(await home.run(['nodes', 'add', 'four', ...login]));
        const accept = ['--accept-host-key', server.fingerprint()];
        succeeded(await home.run(['nodes', 'check', 'four', ...accept]));
        for (const nodes of [
          'this-computer, four, six-0',
          'six-0, this-computer, four',
        ]) {
          const records = await train(home, [
            `world.nodes=[${nodes}]`,
            'world.ranks=3',
          ]);
          expect(codesOf(records)).not.toContain('PEER_TUNNELLED');
        }
        // An address that the user chose is kept, though not all can reach it.
        succeeded(await home.run(['nodes', 'edit', 'four', '--address', host]));
        const nodes = ['world.nodes=[four, six-0]'];
        expect(codesOf(await train(home, nodes))).toContain('PEER_TUNNELLED');
      },
    );

    test('the link between them is measured', { tags: 'soak' }, async () => {
      const measured = await home.run(['nodes', 'network', 'six-0', 'six-1', '--json']);
      expect(measured).toMatchObject({ code: 0 });
      expect(JSON.parse(measured.stdout.split('\n')[0]!)).toMatchObject({
        links: [
          {
            from: 'six-0',
            measure: { addresses: { from: servers[0]!.host, to: servers[1]!.host } },
          },
          { from: 'six-1' },
        ],
      });
    });
  },
);
