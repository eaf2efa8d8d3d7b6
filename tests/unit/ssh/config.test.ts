/** Our own reading of ssh_config(5). `ssh -G` is the oracle in tests/integration/ssh. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  parseDestination,
  parseJumps,
} from '../../../src/main/ssh/config/destination.ts';
import { parseAnswer } from '../../../src/main/ssh/config/openssh-client.ts';
import { namedHosts } from '../../../src/main/ssh/config/named-hosts.ts';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { hopsTo, placeOf, type SshTarget } from '../../../src/main/ssh/target.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'gradwire-config-'));
  mkdirSync(path.join(home, '.ssh'));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

function write(name: string, text: string): string {
  const file = path.join(home, '.ssh', name);
  writeFileSync(file, text);
  return file;
}

async function resolve(
  destination: string,
  text: string,
  environment: Record<string, string> = {},
): Promise<SshTarget> {
  const configFile = write('config', text);
  return (
    await resolveTarget(destination, { configFile, parser: 'own', home, environment })
  ).target;
}

it('takes a name that is nowhere as the host itself', async () => {
  expect(await resolve('node7', '')).toMatchObject({
    host: 'node7',
    port: 22,
    user: os.userInfo().username,
    identities: [],
    identitiesOnly: false,
    agent: undefined,
    jumps: [],
    strictHostKeyChecking: 'ask',
    userKnownHosts: ['known_hosts', 'known_hosts2'].map((name) =>
      path.join(home, '.ssh', name),
    ),
  });
});

it('takes the first value of each keyword and adds up identities', async () => {
  const target = await resolve(
    'gpu',
    `
Port = 2222
Host gpu
  User "ada"
  IdentityFile ~/.ssh/first
  Port 1
Host *
  User eve
  HostName %h.lab.example
  IdentityFile "/keys/%r at %h"
  IdentitiesOnly yes
  HostKeyAlias Cluster
  ConnectTimeout 1m30
  ServerAliveInterval 40
  StrictHostKeyChecking accept-new
  UserKnownHostsFile /a "/b c" ~/d
`,
  );
  expect(target).toMatchObject({
    host: 'gpu.lab.example',
    port: 2222,
    user: 'ada',
    identities: [path.join(home, '.ssh/first'), '/keys/ada at gpu.lab.example'],
    identitiesOnly: true,
    hostKeyAlias: 'cluster',
    connectTimeoutMs: 90_000,
    keepaliveSeconds: 40,
    strictHostKeyChecking: 'accept-new',
    userKnownHosts: ['/a', '/b c', path.join(home, 'd')],
  });
});

it('finds keys that were typed into a form, where no shell expands them', async () => {
  const { target } = await resolveTarget('a', {
    ...{ configFile: write('config', ''), parser: 'own', home, environment: {} },
    identities: ['~/.ssh/typed', 'keys/relative', '/keys/absolute', '~other/key'],
  });
  expect(target.identities).toEqual([
    path.join(home, '.ssh/typed'),
    path.join(home, 'keys/relative'),
    '/keys/absolute',
    path.join(home, '~other/key'),
  ]);
});

it('leaves default keys out that are not there, and keeps those that are named', async () => {
  write('id_ed25519', '');
  expect((await resolve('a', '')).identities).toEqual([
    path.join(home, '.ssh/id_ed25519'),
  ]);
  expect((await resolve('a', 'IdentityFile /nowhere/key')).identities).toEqual([
    '/nowhere/key',
  ]);
});

it('tells named keys from default ones, which `ssh -G` lists alike', async () => {
  const names = ['rsa', 'ecdsa', 'ecdsa_sk', 'ed25519', 'ed25519_sk'];
  for (const name of names) write(`id_${name}`, '');
  const files = names.map((name) => path.join(home, '.ssh', `id_${name}`));
  const all = await resolve(
    'a',
    files.map((file) => `IdentityFile ${file}`).join('\n'),
  );
  expect(all).toMatchObject({ identities: files, defaultIdentities: files });
  const one = await resolve('a', 'IdentityFile ~/.ssh/id_ed25519');
  expect(one).toMatchObject({ identities: [files[3]], defaultIdentities: [] });
  const usual = await resolve('a', '');
  expect(usual.defaultIdentities).toEqual(usual.identities);
  const { target } = await resolveTarget('a', {
    ...{ configFile: write('config', ''), parser: 'own', home, environment: {} },
    identities: ['/keys/own'],
  });
  expect(target.identities[0]).toBe('/keys/own');
  expect(target.defaultIdentities).not.toContain('/keys/own');
  expect(target.defaultIdentities).not.toEqual([]);
});

it('takes IdentitiesOnly as given before the configured one, and not for jump hosts', async () => {
  const configFile = write('config', 'Host b\nIdentitiesOnly yes');
  const only = async (name: string, identitiesOnly?: boolean) => {
    const options = { configFile, parser: 'own', home, environment: {} } as const;
    const { target } = await resolveTarget(name, {
      ...options,
      jump: 'j',
      identitiesOnly,
    });
    return [target.identitiesOnly, target.jumps[0]!.identitiesOnly];
  };
  expect(await only('a')).toEqual([false, false]);
  expect(await only('a', true)).toEqual([true, false]);
  expect(await only('b')).toEqual([true, false]);
  expect(await only('b', false)).toEqual([false, false]);
});

it.each([
  ['IdentityAgent none', undefined],
  ['IdentityAgent $OTHER', '/run/other'],
  ['IdentityAgent ${OTHER}', '/run/other'],
  ['IdentityAgent SSH_AUTH_SOCK', '/run/usual'],
  ['IdentityAgent /run/own', '/run/own'],
  ['', '/run/usual'],
])('finds the agent by %j', async (text, agent) => {
  const environment = { SSH_AUTH_SOCK: '/run/usual', OTHER: '/run/other' };
  expect((await resolve('a', text, environment)).agent).toBe(agent);
});

describe('jumps', () => {
  it('are resolved in their turn, in order', async () => {
    const target = await resolve(
      'node',
      `
Host node
  ProxyJump door,ada@inner:2200
Host door
  HostName door.example
  User guest
  ProxyJump outer
Host inner
  ProxyJump elsewhere
`,
    );
    expect(
      hopsTo(target)
        .map(placeOf)
        .map((place) => place.replace(/^.*@(?=outer|node)/, '')),
    ).toEqual(['outer:22', 'guest@door.example:22', 'ada@inner:2200', 'node:22']);
  });

  it('end with none', async () => {
    const text = 'Host a\n  ProxyJump none\nHost *\n  ProxyJump door';
    expect((await resolve('a', text)).jumps).toEqual([]);
  });

  it('that come before a ProxyCommand count', async () => {
    const text = 'Host a\n  ProxyJump door\n  ProxyCommand nc %h %p';
    expect((await resolve('a', text)).jumps).toMatchObject([{ host: 'door' }]);
  });

  it('in a ring are named', async () => {
    await expect(resolve('a', 'ProxyJump door')).rejects.toMatchObject({
      code: 'SSH_CONFIG_INVALID',
      message: 'the jump hosts form a loop: a -> door -> door',
    });
  });
});

it('says that it has no ProxyCommand', async () => {
  await expect(resolve('a', 'Host a\n ProxyCommand nc %h %p')).rejects.toMatchObject({
    code: 'SSH_PROXY_COMMAND',
    place: 'a',
  });
});

it('leaves Match out and says so', async () => {
  const configFile = write(
    'config',
    'Match host a exec "true"\n  User eve\nMatch all\n  User ada\n',
  );
  const { target, notices } = await resolveTarget('a', {
    configFile,
    parser: 'own',
    home,
  });
  expect(target.user).toBe('ada');
  expect(notices).toEqual([`${configFile}:1: Match is not supported and was ignored`]);
});

describe('revoked keys', () => {
  const at = async (text: string) =>
    await resolveTarget('a', {
      configFile: write('config', text),
      home,
      parser: 'own',
    });

  it('are those of the configured file, and the command for known ones is not run', async () => {
    const text = 'RevokedHostKeys ~/gone\nKnownHostsCommand /bin/keys\n';
    const { target, notices } = await at(text);
    expect(target.revokedHostKeys).toBe(path.join(home, 'gone'));
    expect(notices).toEqual([
      'a: KnownHostsCommand /bin/keys is not supported and was ignored',
    ]);
    expect((await at('RevokedHostKeys none\n')).target.revokedHostKeys).toBeUndefined();
  });

  it('in OpenSSH’s binary format are left to OpenSSH', async () => {
    const list = write('list.krl', 'SSHKRL\n\0 and more');
    const text = `RevokedHostKeys ${list}\n`;
    await expect(at(text)).rejects.toMatchObject({
      code: 'SSH_REVOCATION_LIST',
      place: 'a',
      next: expect.stringContaining('Install OpenSSH’s client') as string,
    });
  });
});

it('reads what is included where it is included', async () => {
  write('one.conf', 'User ada\nHost other\n  Port 1\nHost *\n  Port 2\n');
  const text = 'Host a\n  Include *.conf\nHost *\n  Port 3\n';
  expect(await resolve('a', text)).toMatchObject({ user: 'ada', port: 2 });
  expect(await resolve('b', text)).toMatchObject({ port: 3 });
  expect((await resolve('b', text)).user).not.toBe('ada');
});

it('lists hosts by themselves, of included files too', () => {
  write('more.conf', 'Host gpu3 gpu1\n');
  const configFile = write(
    'config',
    'Host gpu1 gpu2 *.lab !gpu9\nInclude more.conf\nHost "a b" -x we;rd\nHost *\n',
  );
  expect(namedHosts({ configFile, home })).toEqual({
    hosts: ['gpu1', 'gpu2', 'gpu3'],
    skipped: ['a b', '-x', 'we;rd'].map((name) => ({
      name,
      reason: `"${name}" is not a host name`,
    })),
  });
});

it('lists none where there is no file', () => {
  expect(namedHosts({ home })).toEqual({ hosts: [], skipped: [] });
});

it.each([
  ['Host a\n  Port many', 'many is not a number'],
  ['Host a\n  User "ada', 'a " quote is not closed'],
  ['Host a\n  ConnectTimeout soon', 'soon is not a time'],
  [
    'Host a\n  StrictHostKeyChecking perhaps',
    'StrictHostKeyChecking perhaps is not valid',
  ],
  ['Host a\n  IdentityFile ~/%Z', '%Z is not supported here'],
  ['Host a\n  IdentityFile ${NOWHERE}/key', '${NOWHERE} is not set'],
  ['Include config', 'includes too many files, or itself'],
  ['Include /dev/zero', 'cannot be read: it is not a regular file'],
  ['Host a\n  ???', '"???" is not a valid configuration line'],
])('refuses %j', async (text, message) => {
  await expect(resolve('a', text)).rejects.toMatchObject({
    code: 'SSH_CONFIG_INVALID',
    kind: 'input',
    message,
  });
});

it.each([
  ['gpu', { name: 'gpu' }],
  ['ada@gpu:22', { name: 'gpu', user: 'ada', port: 22 }],
  ['ada@lab@gpu', { name: 'gpu', user: 'ada@lab' }],
  ['[fe80::1%eth0]:2222', { name: 'fe80::1%eth0', port: 2222 }],
  ['fe80::1', { name: 'fe80::1' }],
  ['ssh://ada@gpu:22/', { name: 'gpu', user: 'ada', port: 22 }],
])('takes %s apart', (text, expected) => {
  expect(parseDestination(text)).toMatchObject(expected);
});

it.each([
  '',
  '-oProxyCommand=x',
  'a b',
  'a;b',
  '$(a)',
  'a\nb',
  '-l@a',
  'a:0',
  'a:99999',
  'a`',
])('takes %j for no host', (text) => {
  expect(() => parseDestination(text)).toThrow(
    expect.objectContaining({ code: 'SSH_TARGET_INVALID', kind: 'input' }),
  );
});

it('takes a list of jumps apart', () => {
  expect(parseJumps('a, ada@b:3').map(({ name }) => name)).toEqual(['a', 'b']);
});

it('reads paths with spaces from `ssh -G`', () => {
  const values = parseAnswer(
    'userknownhostsfile /a b/known /c\nidentityfile ~/x y\nidentityfile z\n',
  );
  expect(values.get('userknownhostsfile')).toEqual(['/a b/known', '/c']);
  expect(values.get('identityfile')).toEqual(['~/x y', 'z']);
});
