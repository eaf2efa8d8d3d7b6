/** The hosts that ~/.ssh/config names. */
import { GradwireError } from '../../../shared/errors/errors.ts';
import { configLines } from './config-values.ts';
import { parseDestination } from './destination.ts';
import { hostNamesOf } from './own-parser.ts';
import type { ResolveOptions } from './resolve-options.ts';

/** Names in ~/.ssh/config and its includes. */
export interface NamedHosts {
  /** Names that each mean one host. */
  readonly hosts: readonly string[];
  /** Names that cannot be used, and why; patterns are not among them. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** @throws GradwireError `SSH_CONFIG_INVALID` */
export function namedHosts(options: ResolveOptions = {}): NamedHosts {
  const hosts: string[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const name of hostNamesOf(configLines(options, 'user'))) {
    try {
      parseDestination(name);
      hosts.push(name);
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      skipped.push({ name, reason: error.message });
    }
  }
  return { hosts, skipped };
}
