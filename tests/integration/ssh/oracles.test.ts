/** OpenSSH's own programs as oracles: ssh-keygen for known_hosts, `ssh -G` for ssh_config. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseHostKey } from '../../../src/main/ssh/host-keys/host-key.ts';
import {
  parseKnownHosts,
  serverNames,
  standingOf,
} from '../../../src/main/ssh/host-keys/known-hosts.ts';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { makeKey } from '../../harness/ssh-keys.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-oracles-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('known_hosts', () => {
  const patterns = [
    'node.lab',
    '*.lab,!node.lab',
    'n?de.lab',
    '10.0.0.*',
    '[node.lab]:2222',
    '*',
    '!node.lab',
    'a*b*c.lab',
    'NODE.lab',
  ];
  const names: readonly (readonly [string, number])[] = [
    ['node.lab', 22],
    ['node.lab', 2222],
    ['other.lab', 22],
    ['10.0.0.7', 22],
    ['axxbxxc.lab', 22],
    ['axxbxx.lab', 22],
    ['Node.Lab', 22],
  ];

  /** Whether `ssh-keygen -F` finds the name. */
  function found(file: string, host: string, port: number): boolean {
    const name = port === 22 ? host : `[${host}]:${port}`;
    try {
      execFileSync('ssh-keygen', ['-F', name, '-f', file], { stdio: 'pipe' });
      return true;
    } catch {
      return false;
    }
  }

  function known(file: string, host: string, port: number, key: Buffer): boolean {
    const { entries } = parseKnownHosts(readFileSync(file, 'utf8'), file);
    // The name with its port alone: that a key of port 22 is good elsewhere is ssh's rule.
    const { name } = serverNames(host, port, undefined);
    return standingOf(parseHostKey(key)!, { name }, entries).kind === 'known';
  }

  it.each(patterns)('%s fits the names that ssh-keygen finds by it', (pattern) => {
    const file = path.join(directory, 'known_hosts');
    const key = makeKey(path.join(directory, `key-${patterns.indexOf(pattern)}`));
    const text = readFileSync(`${key}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
    writeFileSync(file, `${pattern} ${text}\n`);
    const blob = Buffer.from(text.split(' ')[1]!, 'base64');
    const ours = names.map(([host, port]) => known(file, host, port, blob));
    expect(ours).toEqual(
      names.map(([host, port]) => found(file, host.toLowerCase(), port)),
    );
  });

  it('names that ssh-keygen has hashed are found', () => {
    const file = path.join(directory, 'hashed');
    const key = makeKey(path.join(directory, 'key-hashed'));
    const text = readFileSync(`${key}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
    writeFileSync(file, `node.lab,10.0.0.7 ${text}\n[node.lab]:2222 ${text}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
    expect(readFileSync(file, 'utf8')).not.toContain('node');
    const blob = Buffer.from(text.split(' ')[1]!, 'base64');
    const ours = names.map(([host, port]) => known(file, host, port, blob));
    expect(ours).toEqual([true, true, false, true, false, false, true]);
  });
});

describe('ssh_config: our parser and ssh -G resolve the same target from', () => {
  const files: Readonly<Record<string, string>> = {
    nothing: '',
    'first value wins': `
Host gpu*
  User ada
  Port 2222
Host gpu1
  User eve
  HostName %h.lab.example
Host *
  User all
  Port 1
`,
    'patterns and negation': `
Host * !gpu1
  User notone
Host gpu? !gpu2
  Port 2200
Host a b c gpu3
  HostName three.example
`,
    quoting: `
Host "gpu1"
  User="ada"
  IdentityFile "~/with space/key" # a comment
  IdentityFile=/plain
  HostKeyAlias = Some.Alias
	Port	2201
  userknownhostsfile "/a b/c" /d
`,
    identities: `
IdentityFile ~/.ssh/first_%r
Host gpu1
  IdentityFile %d/second_%h_%p_%n_%u
  IdentityFile ~/.ssh/first_%r
  IdentitiesOnly yes
  IdentityAgent ~/agent.sock
Host *
  User late
  HostName resolved.%h
`,
    jumps: `
Host gpu1
  ProxyJump door,me@inner:2022
Host door
  HostName door.example
  ProxyJump outer
Host outer
  Port 443
Host inner
  ProxyJump nowhere
Host gpu2
  ProxyJump none
  ProxyCommand nc %h %p
Host gpu*
  ProxyJump outer
`,
    times: `
Host gpu1
  ConnectTimeout 1m30s
  ServerAliveInterval 2m
Host gpu2
  ConnectTimeout 7
  ServerAliveInterval 0
Host gpu3
  ConnectTimeout none
`,
    checking: `
Host gpu1
  StrictHostKeyChecking yes
Host gpu2
  StrictHostKeyChecking accept-new
Host gpu3
  StrictHostKeyChecking off
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /x /y
`,
    'known hosts with tokens': `
Host *
  UserKnownHostsFile ~/.ssh/known_%h ~/.ssh/known_%k
  HostName %h.lab
Host gpu1
  HostKeyAlias alias1
`,
    includes: `
Host gpu1
  Include DIR/inner.conf
Include DIR/outer.conf DIR/absent.conf
User last
`,
    'Match all': `
Host gpu1
  User ada
Match all
  Port 99
`,
  };

  it.each(Object.keys(files))('%s', async (name) => {
    const folder = path.join(directory, name.replaceAll(' ', '-'));
    mkdirSync(folder);
    writeFileSync(
      path.join(folder, 'inner.conf'),
      'User inner\nHost gpu2\n  Port 7\nHost gpu1\n  Port 8\n',
    );
    writeFileSync(path.join(folder, 'outer.conf'), 'Host gpu2\n  User outer\n');
    const configFile = path.join(folder, 'config');
    writeFileSync(configFile, files[name]!.replaceAll('DIR', folder));
    const environment = { SSH_AUTH_SOCK: '/run/agent' };
    for (const host of ['gpu1', 'gpu2', 'gpu3', 'elsewhere', 'eve@gpu1:23']) {
      // With `system` only one of the two could say a way.
      const transport = 'builtin' as const;
      const options = { configFile, environment, transport };
      const [ours, theirs] = await Promise.all(
        (['own', 'openssh'] as const).map((parser) =>
          outcome(host, { ...options, parser }),
        ),
      );
      expect(ours, host).toEqual(theirs);
    }
  });
});

async function outcome(
  host: string,
  options: Parameters<typeof resolveTarget>[1],
): Promise<unknown> {
  try {
    return (await resolveTarget(host, options)).target;
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

it('complaints of ssh are reported', async () => {
  const configFile = path.join(directory, 'broken');
  writeFileSync(configFile, 'Bogus yes\n');
  await expect(
    resolveTarget('gpu1', { configFile, parser: 'openssh' }),
  ).rejects.toMatchObject({
    code: 'SSH_CONFIG_INVALID',
    message: expect.stringContaining('bad configuration option') as string,
  });
});
