/**
 * Reads ~/.ssh/config for a host if there is no OpenSSH client: Host blocks with patterns,
 * Include, first value wins. Match blocks other than `Match all` are ignored, with a
 * notice. tests/integration/ssh/config-oracle.test.ts compares it with `ssh -G`.
 */
import { matchesPatterns } from '../host-keys/known-hosts.ts';
import type { ConfigLine } from './config-file.ts';

/** Values that are set, without defaults, by keyword in lower case. */
export type ConfigValues = ReadonlyMap<string, readonly string[]>;

export interface HostConfig {
  readonly values: ConfigValues;
  readonly notices: readonly string[];
}

/** Keywords whose later lines add to earlier ones. */
const ADDING = new Set(['identityfile', 'certificatefile']);

export function configOf(host: string, lines: readonly ConfigLine[]): HostConfig {
  const values = new Map<string, readonly string[]>();
  const notices = new Set<string>();

  /** @param reachable whether the place that includes these lines applies */
  const walk = (part: readonly ConfigLine[], reachable: boolean): void => {
    let active = reachable;
    for (const line of part) {
      switch (line.keyword) {
        case 'host':
          active = reachable && matchesPatterns(host, line.values);
          break;
        case 'match': {
          const all = line.values.length === 1 && /^all$/i.test(line.values[0]!);
          active = reachable && all;
          if (!all) {
            notices.add(`${line.place}: Match is not supported and was ignored`);
          }
          break;
        }
        case 'include':
          walk(line.included ?? [], active);
          break;
        default:
          if (active) take(line);
      }
    }
  };

  const take = ({ keyword, values: given }: ConfigLine): void => {
    if (given.length === 0) return;
    if (keyword === 'proxyjump' || keyword === 'proxycommand') {
      // The first of the two counts, but OpenSSH 9.2 accepts a command after `ProxyJump
      // none`.
      const jump = values.get('proxyjump')?.[0];
      const taken =
        values.has('proxycommand') ||
        (jump !== undefined && (keyword === 'proxyjump' || !/^none$/i.test(jump)));
      if (!taken) values.set(keyword, [given.join(' ')]);
    } else if (ADDING.has(keyword)) {
      const before = values.get(keyword) ?? [];
      if (!before.includes(given[0]!)) values.set(keyword, [...before, given[0]!]);
    } else if (!values.has(keyword)) {
      values.set(keyword, given);
    }
  };

  walk(lines, true);
  return { values, notices: [...notices] };
}

/** Host names without wildcards, in the order of the file. */
export function hostNamesOf(lines: readonly ConfigLine[]): readonly string[] {
  const names = lines.flatMap(({ keyword, values, included }) => {
    if (keyword === 'include') return hostNamesOf(included ?? []);
    return keyword === 'host' ? values.filter((name) => !/[*?!]/.test(name)) : [];
  });
  return [...new Set(names)];
}
