/** Who speaks SSH: a truth table over what a configuration can say. */
import { describe, expect, it } from 'vitest';
import {
  chooseSshClient,
  type HopNeeds,
} from '../../../src/main/ssh/config/ssh-client-choice.ts';

const PLAIN: HopNeeds = {
  name: 'box',
  certificates: [],
  keys: [{ file: '~/.ssh/id_ed25519', token: false }],
  agent: false,
  gssapi: false,
  onlyAuthority: false,
};
const token = { file: '~/.ssh/id_ed25519_sk', token: true };

describe('auto', () => {
  it.each<[string, Partial<HopNeeds>, 'builtin' | 'system']>([
    ['a key', {}, 'builtin'],
    ['no key at all', { keys: [] }, 'builtin'],
    ['a ProxyCommand', { proxyCommand: 'nc %h %p' }, 'system'],
    ['a smart card', { pkcs11Provider: '/usr/lib/opensc.so' }, 'system'],
    ['a certificate', { certificates: ['~/.ssh/id-cert.pub'] }, 'system'],
    ['a host known by its authority alone', { onlyAuthority: true }, 'system'],
    ['keys revoked by a KRL', { revocationList: '/etc/ssh/revoked' }, 'system'],
    ['a security key alone', { keys: [token] }, 'system'],
    ['a security key beside another key', { keys: [token, ...PLAIN.keys] }, 'builtin'],
    ['a security key beside an agent', { keys: [token], agent: true }, 'builtin'],
    // Debian and others have it on for every host.
    ['GSSAPI beside a key', { gssapi: true }, 'builtin'],
    ['GSSAPI beside an agent', { gssapi: true, keys: [], agent: true }, 'builtin'],
    ['GSSAPI alone', { gssapi: true, keys: [] }, 'system'],
  ])('%s', (_, given, kind) => {
    const hops = [{ ...PLAIN, ...given }];
    expect(chooseSshClient({ asked: 'auto', hops, client: true })).toMatchObject({
      kind,
    });
  });

  it('takes the whole way by the system where one hop needs it, and names it', () => {
    const gate = { ...PLAIN, name: 'gate', proxyCommand: 'tunnel' };
    const { kind, reason } = chooseSshClient({
      asked: 'auto',
      hops: [gate, PLAIN],
      client: true,
    });
    expect({ kind, reason }).toEqual({
      kind: 'system',
      reason: 'gate: ProxyCommand tunnel',
    });
  });

  it('tries the built-in client where there is no other', () => {
    const hops = [{ ...PLAIN, certificates: ['x-cert.pub'] }];
    expect(chooseSshClient({ asked: 'auto', hops, client: false }).kind).toBe(
      'builtin',
    );
  });
});

it('follows an explicit choice', () => {
  const given = { hops: [PLAIN], client: true };
  expect(chooseSshClient({ asked: 'system', ...given })).toEqual({
    kind: 'system',
    reason: 'as you chose',
  });
  const certified = [{ ...PLAIN, certificates: ['x-cert.pub'] }];
  expect(chooseSshClient({ asked: 'builtin', hops: certified, client: true })).toEqual({
    kind: 'builtin',
    reason: 'as you chose',
  });
});

it('says what is in the way', () => {
  const tunnel = [{ ...PLAIN, proxyCommand: 'nc %h %p' }];
  const choose = (asked: 'auto' | 'builtin' | 'system', client: boolean) => () =>
    chooseSshClient({ asked, hops: tunnel, client });
  expect(choose('system', false)).toThrowError(
    expect.objectContaining({ code: 'SSH_CLIENT_MISSING', place: 'box' }),
  );
  expect(choose('auto', false)).toThrowError(
    expect.objectContaining({ code: 'SSH_PROXY_COMMAND' }),
  );
  expect(choose('builtin', true)).toThrowError(
    expect.objectContaining({
      code: 'SSH_PROXY_COMMAND',
      next: expect.stringContaining('--transport system'),
    }),
  );
});
