/** The look for runs that other login nodes have, run by a shell. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runsOfOtherHosts } from '../../../src/main/deploy/other-hosts.ts';
import type { RemoteConnection } from '../../../src/main/ssh/remote-connection.ts';

test('runs in the directories of other machines are found, with their hosts', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'gradwire-login-'));
  const connection = {
    run: (command: string, { input }: { readonly input: string }) => {
      const env = { ...process.env, HOME: home };
      const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
        input,
        encoding: 'utf8',
        env,
      });
      return Promise.resolve({ code: status, signal: null, stdout, stderr });
    },
  } as unknown as RemoteConnection;
  const ask = (...runs: string[]) => runsOfOtherHosts(connection, runs);
  try {
    expect(await ask('a')).toEqual(new Map());
    const folders = ['login1/runs/a', 'login1/runs/b', `${hostname()}/runs/c`];
    for (const folder of folders) {
      mkdirSync(path.join(home, '.gradwire/nodes', folder), { recursive: true });
    }
    expect(await ask('a', 'c', 'd')).toEqual(new Map([['a', 'login1']]));
  } finally {
    rmSync(home, { recursive: true });
  }
});
