/** Log-in by a Kerberos ticket, at a real KDC and a real sshd. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import { kerberosMissing, KerberosRealm } from '../../harness/kerberos.ts';
import { SshServer } from '../../harness/sshd.ts';
import { configOf, hostBlock } from './system-host.ts';

const missing = kerberosMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

describe.skipIf(missing !== undefined)(`a ticket${because}`, () => {
  let realm: KerberosRealm;
  let server: SshServer;
  const before = { ...process.env };

  beforeAll(async () => {
    realm = await KerberosRealm.start('localhost');
    const { KRB5_CONFIG, KRB5_KTNAME } = realm.environment;
    server = await SshServer.start({
      config: ['GSSAPIAuthentication yes', 'GSSAPIStrictAcceptorCheck no'],
      place: {
        host: '127.0.0.1',
        prefix: [
          '/usr/bin/env',
          `KRB5_CONFIG=${KRB5_CONFIG}`,
          `KRB5_KTNAME=${KRB5_KTNAME}`,
        ],
      },
    });
    Object.assign(process.env, realm.environment);
  });
  afterAll(async () => {
    process.env = before;
    await server?.[Symbol.asyncDispose]();
    await realm?.[Symbol.asyncDispose]();
  });

  test('logs in without key or agent, and asks nothing', async () => {
    const lines = ['HostName localhost', 'HostKeyAlias the-box', 'IdentityFile none'];
    const block = hostBlock('box', server, [...lines, 'GSSAPIAuthentication yes'])
      .replace(`IdentityFile ${server.key}`, '')
      .replace('StrictHostKeyChecking yes', 'StrictHostKeyChecking accept-new');
    const configFile = configOf(server, block);
    const { target, transport } = await resolveTarget('box', { configFile });
    expect(transport).toMatchObject({
      kind: 'system',
      reason: expect.stringContaining('GSSAPIAuthentication'),
    });
    await using opened = await SystemSshConnection.open(target);
    expect((await opened.run('echo in')).stdout).toBe('in\n');
    expect(server.log).toContain('Accepted gssapi-with-mic');
    process.env['KRB5CCNAME'] = `FILE:${path.join(server.directory, 'none')}`;
    await expect(SystemSshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      next: expect.stringContaining('kinit'),
    });
  });
});
