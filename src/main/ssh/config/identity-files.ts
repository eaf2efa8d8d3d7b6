/** The key files that a host is offered, in order. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { sshTarget, type SshTarget } from '../target.ts';
import type { ResolveOptions } from './resolve-options.ts';

const LOOKED_FOR = /^id_(rsa|dsa|xmss|(ecdsa|ed25519)(_sk)?)$/;
/** `ssh -G` lists all of OpenSSH's default keys if none is configured: five or more. */
const FEWEST_DEFAULTS = 4;

/**
 * The given files, then the configured ones or, if there are none, OpenSSH's defaults.
 * @param expand expands a configured path
 */
export function identitiesOf(
  configured: readonly string[] | undefined,
  expand: (text: string) => string,
  options: ResolveOptions,
  home: string,
): Pick<SshTarget, 'identities' | 'defaultIdentities'> {
  const given = givenIdentities(options, home);
  const files = configured?.filter((file) => file !== 'none').map(expand);
  const isDefault = (file: string): boolean =>
    path.dirname(file) === path.join(home, '.ssh') &&
    LOOKED_FOR.test(path.basename(file));
  const isNamed =
    files !== undefined && !(files.length >= FEWEST_DEFAULTS && files.every(isDefault));
  const others = (files ?? sshTarget({ host: 'any' }, {}, home).identities).filter(
    (file) =>
      !given.includes(file) &&
      !(isDefault(file) && !existsSync(file) && !existsSync(`${file}.pub`)),
  );
  return {
    identities: [...given, ...others],
    defaultIdentities: isNamed ? [] : others,
  };
}

/** The given files. Typed into a form, where no shell expands them: ~ and relative paths are the home's. */
export function givenIdentities(
  options: ResolveOptions,
  home: string,
): readonly string[] {
  return (options.identities ?? []).map((file) =>
    path.resolve(home, file.replace(/^~(?=\/|$)/, home)),
  );
}
