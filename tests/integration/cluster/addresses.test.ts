/**
 * Machines that SSH reaches by other ways than ranks do: behind a jump host, whose address
 * is all that the machine behind it sees of this computer; and with a firewall that lets a
 * few ports pass.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { namespacesMissing, RankNamespaces } from '../../harness/namespaces.ts';
import { SshServer } from '../../harness/sshd.ts';

const missing = namespacesMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;

describe.skipIf(missing !== undefined)(`a machine behind a jump host${because}`, () => {
  let namespaces: RankNamespaces;
  let outer: SshServer;
  let inner: SshServer;
  let home: GradwireHome;

  beforeAll(async () => {
    namespaces = new RankNamespaces({ ranks: 2 });
    const [first, second] = namespaces.hosts.map((host, rank) =>
      SshServer.start({ shellStart, place: { host, prefix: namespaces.prefix(rank) } }),
    );
    [outer, inner] = await Promise.all([first!, second!]);
    home = new GradwireHome();
    const config = path.join(inner.directory, 'config');
    const host = (name: string, { host, port, key, directory }: SshServer): string =>
      `Host ${name}\n  HostName ${host}\n  Port ${port}\n  IdentityFile ${key}\n` +
      `  UserKnownHostsFile ${directory}/known_hosts\n`;
    writeFileSync(
      config,
      `${host('outer', outer)}${host('inner', inner)}  ProxyJump outer\n`,
    );
    const imported = await home.run(['nodes', 'import', '--config', config, 'inner']);
    expect(imported).toMatchObject({ code: 0, stderr: '' });
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    for (const server of [outer, inner]) await server[Symbol.asyncDispose]();
    namespaces[Symbol.dispose]();
  });

  async function train(settings: readonly string[]): Promise<readonly RunRecord[]> {
    const run = home.startQuickstart([
      ...['world.nodes=[this-computer, inner]', 'world.ranks=3', 'iterations=20'],
      ...['evaluateEvery=0', ...settings],
    ]);
    succeeded(await run.finished);
    return run.records;
  }

  test(
    'trains beside this computer, whose address it cannot know',
    { tags: 'soak' },
    async () => {
      const seen = await home.run(['nodes', 'check', 'inner', '--json']);
      const { connection } = JSON.parse(seen.stdout) as {
        readonly connection: { readonly client: string };
      };
      // The jump host's: nothing of this computer's listens there.
      expect(connection.client).toBe(outer.host);
      const records = await train([]);
      expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
    },
  );

  test(
    'and where that machine leads; its link is measured, too',
    { tags: 'soak' },
    async () => {
      const run = home.startQuickstart([
        ...['world.nodes=[inner, this-computer]', 'world.ranks=2', 'iterations=20'],
        'evaluateEvery=0',
      ]);
      succeeded(await run.finished);
      const links = await home.run(['nodes', 'network', '--json']);
      expect(links).toMatchObject({ code: 0 });
    },
  );

  test(
    'keeps to its ports, and says when they are too few',
    { tags: 'soak' },
    async () => {
      const [entry] = (await home.run(['nodes', 'list', '--json'])).stdout.split('\n');
      const { configFile } = JSON.parse(entry!) as { readonly configFile: string };
      expect(configFile).toBe(path.join(inner.directory, 'config'));
      const { host, port, key } = inner;
      const direct = ['--host', host, '--port', String(port), '--identity', key];
      const bad = await home.run(['nodes', 'add', 'x', ...direct, '--ports', '80-90']);
      expect(bad).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/NODE_INVALID/),
      });
      await home.run(['nodes', 'add', 'narrow', ...direct, '--ports', '20000-20001']);
      const accept = ['--accept-host-key', inner.fingerprint()];
      await home.run(['nodes', 'check', 'narrow', ...accept]);
      // It leads, so it is dialled.
      const one = home.startQuickstart([
        ...['world.nodes=[narrow, this-computer]', 'world.ranks=2', ...LASTING],
        'world.ports=21000-21001',
      ]);
      await one.record('iteration');
      const there = execFileSync(
        'ip',
        ['netns', 'exec', namespaces.names[1]!, 'ss', '-Htn', 'state', 'established'],
        { encoding: 'utf8' },
      );
      const taken = [...there.matchAll(/:(\d+)\s+\S+:\d+\s*$/gm)].map(([, at]) => at);
      // Messages, and signs of life; the third connection is SSH's.
      expect(taken.filter((at) => at !== String(inner.port)).toSorted()).toEqual([
        '20000',
        '20001',
      ]);
      await home.run(['runs', 'stop', 'last']);
      succeeded(await one.finished);

      const two = home.startQuickstart([
        ...['world.nodes=[this-computer, narrow]', 'world.ranks=4', 'iterations=20'],
      ]);
      const { code, stderr } = await two.finished;
      expect(code).toBe(1);
      expect(stderr).toMatch(/PORTS_TAKEN: all ports 20000-20001 of \S+ are taken/);
    },
  );
});
