/**
 * The configuration files and their values for one host: through OpenSSH's client if there
 * is one, otherwise by our own parser.
 */
import path from 'node:path';
import { failure } from '../../../shared/errors/errors.ts';
import { readConfigFile, type ConfigLine } from './config-file.ts';
import type { Destination } from './destination.ts';
import { askOpenssh } from './openssh-client.ts';
import { configOf, type ConfigValues } from './own-parser.ts';
import { homeOf, type ResolveOptions } from './resolve-options.ts';

/**
 * Values by lower-case keyword.
 * @param notices receives what was ignored
 * @returns also whether tokens and paths are expanded: by OpenSSH's client
 * @throws GradwireError `SSH_CONFIG_INVALID`, `SSH_CLIENT_MISSING`
 */
export async function valuesOf(
  { name, user, port }: Destination,
  options: ResolveOptions,
  notices: Set<string>,
): Promise<{ readonly values: ConfigValues; readonly expanded: boolean }> {
  if (options.parser !== 'own') {
    const values = await askOpenssh({
      name,
      user,
      port,
      configFile: options.configFile,
    });
    if (values !== undefined) return { values, expanded: true };
    if (options.parser === 'openssh') {
      throw failure('SSH_CLIENT_MISSING', 'no OpenSSH client is installed here');
    }
  }
  const found = configOf(name, configLines(options, 'all'));
  for (const notice of found.notices) notices.add(notice);
  return { values: found.values, expanded: false };
}

/**
 * The lines of the user's file, or of this and the system's.
 * @throws GradwireError `SSH_CONFIG_INVALID`
 */
export function configLines(
  options: ResolveOptions,
  which: 'user' | 'all',
): readonly ConfigLine[] {
  const home = homeOf(options);
  const directory = path.join(home, '.ssh');
  const file = options.configFile ?? path.join(directory, 'config');
  const lines = readConfigFile({ file, directory, home });
  if (which === 'user' || options.configFile !== undefined) return lines;
  const system = { file: '/etc/ssh/ssh_config', directory: '/etc/ssh', home };
  return [
    // A block of one file must not continue in the other.
    ...lines,
    { keyword: 'host', values: ['*'], place: system.file },
    ...readConfigFile(system),
  ];
}
