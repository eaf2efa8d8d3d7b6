/** What known_hosts lines mean. ssh-keygen is the oracle in tests/integration/ssh. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  orderAlgorithms,
  parseHostKey,
} from '../../../src/main/ssh/host-keys/host-key.ts';
import {
  knownTypes,
  parseKnownHosts,
  serverNames,
  standingOf,
} from '../../../src/main/ssh/host-keys/known-hosts.ts';

const A =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILQoiaP+FOuRs0buJrTSdyrqhwt6brpnV5RE2afsGm+D';
const B =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPpZsScjjyCOh8JoXOY7vryIwKUEaLnnZE3ev3/AV3QW';
const OTHER_TYPE =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIX0ZYgiRM+6v80i/LkEQj3178jJkItfLX6B4qn85mOLukVwB2pxi6bkpeV99WKkIY+L59IJbzxNs4MEFuviKJI=';

const keyOf = (text: string) =>
  parseHostKey(Buffer.from(text.split(' ')[1]!, 'base64'))!;

/** The standing of key A. */
function standing(
  text: string,
  {
    host = 'node.lab',
    port = 22,
    alias,
  }: { host?: string; port?: number; alias?: string } = {},
): string {
  const { entries } = parseKnownHosts(text, 'kh');
  return standingOf(keyOf(A), serverNames(host, port, alias), entries).kind;
}

it('has the fingerprint that ssh-keygen -l prints', () => {
  expect(fingerprintOf(keyOf(A))).toBe(
    'SHA256:AcBYV9GU2S+g5kwZWaVUHqTDVXyMBZkPPvyeooV3hNI',
  );
});

describe('a key is', () => {
  it.each([
    ['known', `node.lab ${A}`],
    ['known', `NODE.lab ${A} a comment`],
    ['known', `other,node.lab,10.0.0.1 ${A}`],
    ['known', `*.lab ${A}`],
    ['known', `nod?.lab ${A}`],
    ['unknown', `node?.lab ${A}`],
    ['unknown', `*.lab,!node.lab ${A}`],
    ['unknown', `!other.lab ${A}`],
    ['known', `\t node.lab\t${A}`],
    ['unknown', ''],
    ['unknown', `# node.lab ${A}`],
    ['unknown', `lab ${A}`],
    ['changed', `node.lab ${B}`],
    ['known', `node.lab ${B}\nnode.lab ${A}`],
    ['other-type', `node.lab ${OTHER_TYPE}`],
    ['changed', `node.lab ${OTHER_TYPE}\nnode.lab ${B}`],
    ['only-authority', `@cert-authority *.lab ${B}`],
    ['only-authority', `@cert-authority *.lab ${A}`],
    ['changed', `@cert-authority *.lab ${B}\nnode.lab ${B}`],
    ['revoked', `@revoked * ${A}`],
    ['revoked', `node.lab ${A}\n@revoked node.lab ${A}`],
    ['known', `@revoked * ${B}\nnode.lab ${A}`],
    ['unknown', `@revoked other.lab ${A}`],
  ])('%s with %j', (expected, text) => {
    expect(standing(text)).toBe(expected);
  });

  it.each([
    ['known', `[node.lab]:2222 ${A}`],
    ['changed', `[node.lab]:2222 ${B}`],
    ['unknown', `[node.lab]:2223 ${B}`],
    // The same machine at its usual port.
    ['known', `node.lab ${A}`],
    ['unknown', `node.lab ${B}`],
    ['changed', `node.lab ${A}\n[node.lab]:2222 ${B}`],
    ['revoked', `@revoked node.lab ${A}`],
  ])('%s at another port with %j', (expected, text) => {
    expect(standing(text, { port: 2222 })).toBe(expected);
  });

  it('looked up by its alias, at any port', () => {
    expect(standing(`cluster ${A}`, { port: 2222, alias: 'Cluster' })).toBe('known');
    expect(standing(`node.lab ${A}`, { alias: 'cluster' })).toBe('unknown');
  });

  it('found by a hashed name', () => {
    const line = `|1|JzmGk/WE18Mydl/36Av3HlF9Rjc=|LVrCtpzDoC871TIXdE4iwNIkvKc= ${A}`;
    expect(standing(line, { host: 'hashed.example' })).toBe('known');
    expect(standing(line, { host: 'hashed.example2' })).toBe('unknown');
  });
});

it('says where the line stands that speaks against a key', () => {
  const { entries } = parseKnownHosts(
    `# none\n\nnode.lab ${B}\n`,
    '/home/a/known_hosts',
  );
  expect(standingOf(keyOf(A), serverNames('node.lab', 22, undefined), entries)).toEqual(
    {
      kind: 'changed',
      place: '/home/a/known_hosts:3',
    },
  );
});

it.each([
  ['node.lab', 'not HOSTS TYPE KEY'],
  [`node.lab 1024 35 1234567890`, 'the key is not base64'],
  [`node.lab ssh-rsa ${A.split(' ')[1]}`, 'the key is not of type ssh-rsa'],
  [`node.lab ssh-ed25519 AAAA`, 'the key is not of type ssh-ed25519'],
  [`node.lab ssh-ed25519 !!!!`, 'the key is not base64'],
  [`@trusted node.lab ${A}`, 'unknown marker @trusted'],
  [`|2|abc|def ${A}`, 'a hashed name not of the form |1|SALT|HASH'],
])('skips %j and says why, and reads on', (line, reason) => {
  const { entries, skipped } = parseKnownHosts(`${line}\nnode.lab ${A}`, 'kh');
  expect(skipped).toEqual([{ place: 'kh:1', reason }]);
  expect(entries).toHaveLength(1);
});

it('reads any text without failing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, host) => {
      const { entries } = parseKnownHosts(text, 'kh');
      standingOf(keyOf(A), serverNames(host, 22, undefined), entries);
    }),
  );
});

it('takes any bytes for a key or for none', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const key = parseHostKey(Buffer.from(bytes));
      if (key !== undefined) expect(key.type).toMatch(/^[\x21-\x7e]+$/);
    }),
  );
});

describe('algorithms', () => {
  const typesOf = (text: string, port = 22) =>
    knownTypes(
      serverNames('node.lab', port, undefined),
      parseKnownHosts(text, 'kh').entries,
    );

  it('come in the usual order where nothing is known', () => {
    expect(orderAlgorithms(new Set())[0]).toBe('ssh-ed25519');
  });

  it('begin with those of the keys that are known', () => {
    expect(orderAlgorithms(typesOf(`node.lab ${OTHER_TYPE}`))[0]).toBe(
      'ecdsa-sha2-nistp256',
    );
    expect(orderAlgorithms(new Set(['ssh-rsa'])).slice(0, 3)).toEqual([
      'rsa-sha2-512',
      'rsa-sha2-256',
      'ssh-ed25519',
    ]);
  });

  it('are not chosen by revoked keys or authorities', () => {
    expect(
      typesOf(`@revoked * ${OTHER_TYPE}\n@cert-authority * ${OTHER_TYPE}`).size,
    ).toBe(0);
  });

  it('begin with those known at the usual port where none are at this', () => {
    expect([...typesOf(`node.lab ${OTHER_TYPE}`, 2222)]).toEqual([
      'ecdsa-sha2-nistp256',
    ]);
    expect([...typesOf(`node.lab ${OTHER_TYPE}\n[node.lab]:2222 ${A}`, 2222)]).toEqual([
      'ssh-ed25519',
    ]);
  });

  it('are all listed once, for any known keys', () => {
    expect(new Set(orderAlgorithms(new Set(['ssh-rsa', 'ssh-dss']))).size).toBe(
      orderAlgorithms(new Set()).length,
    );
  });
});
