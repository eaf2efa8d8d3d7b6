/** An sshd as the system's `ssh` is to reach it: by a configuration of its own. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import type { SshTarget } from '../../../src/main/ssh/target.ts';
import type { TransportChoice } from '../../../src/shared/machines/ssh-transport.ts';
import type { SshServer } from '../../harness/sshd.ts';

let configurations = 0;

/** A Host block; what `lines` say comes first and so wins. */
export function hostBlock(
  name: string,
  server: SshServer,
  lines: readonly string[] = [],
): string {
  return [
    `Host ${name}`,
    ...lines,
    `HostName ${server.host}`,
    `Port ${server.port}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `IdentityFile ${server.key}`,
    'StrictHostKeyChecking yes',
    `UserKnownHostsFile ${server.knownHosts}`,
    'GlobalKnownHostsFile none',
    '',
  ].join('\n');
}

/** A configuration file beside the server's own. */
export function configOf(server: SshServer, ...blocks: readonly string[]): string {
  const file = path.join(server.directory, `config-${++configurations}`);
  writeFileSync(file, blocks.join('\n'));
  return file;
}

export async function systemTarget(
  server: SshServer,
  lines: readonly string[] = [],
  transport: TransportChoice = 'system',
): Promise<SshTarget> {
  const configFile = configOf(server, hostBlock('box', server, lines));
  return (await resolveTarget('box', { configFile, transport })).target;
}
