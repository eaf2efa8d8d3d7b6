/**
 * Resolves a name to a target by ~/.ssh/config, through OpenSSH's client if there is one,
 * otherwise by our own parser. Every jump host is resolved in turn.
 */
import { isIP } from 'node:net';
import os from 'node:os';
import { withNotices } from '../../../shared/errors/errors.ts';
import type { ChosenSshClient } from '../../../shared/machines/ssh-transport.ts';
import { DEFAULT_PORT, hopsTo, sshTarget, type SshTarget } from '../target.ts';
import { configInvalid } from './config-file.ts';
import { valuesOf } from './config-values.ts';
import { parseDestination, parseJumps, type Destination } from './destination.ts';
import { expandPath, expandTokens, type ExpansionContext } from './expansion.ts';
import { isYes, needsOf } from './hop-needs.ts';
import { givenIdentities, identitiesOf } from './identity-files.ts';
import { homeOf, type ResolveOptions } from './resolve-options.ts';
import {
  agentOf,
  checkingOf,
  connectTimeout,
  keepalive,
  numberOf,
} from './setting-values.ts';
import { chooseSshClient, type HopNeeds } from './ssh-client-choice.ts';

export interface ResolvedTarget {
  readonly target: SshTarget;
  readonly transport: ChosenSshClient;
  /** Parts of the configuration that were ignored. */
  readonly notices: readonly string[];
}

const MOST_JUMPS = 8;

/** A setting that makes more hosts trusted and that the built-in client does not read. */
const NOT_READ = 'knownhostscommand';

interface ResolvedHop {
  /** Includes the route for the system's `ssh`, whichever client is used. */
  readonly target: SshTarget;
  readonly needs: HopNeeds;
  readonly notRead: readonly string[];
}

interface Resolving {
  readonly options: ResolveOptions;
  readonly notices: Set<string>;
  /** All hops, in the order in which they are reached. */
  readonly hops: ResolvedHop[];
}

/**
 * @param destination `[user@]name[:port]`, the name as in ~/.ssh/config
 * @throws GradwireError `SSH_CONFIG_INVALID`, `SSH_PROXY_COMMAND`, `SSH_REVOCATION_LIST`,
 * `SSH_TARGET_INVALID`, `SSH_CLIENT_MISSING`
 */
export async function resolveTarget(
  destination: string,
  options: ResolveOptions = {},
): Promise<ResolvedTarget> {
  const { transport: asked = 'auto' } = options;
  const resolving: Resolving = { options, notices: new Set(), hops: [] };
  const { hops, notices } = resolving;
  let target: SshTarget;
  let transport: ChosenSshClient;
  try {
    target = await resolveHost(parseDestination(destination), resolving, []);
    transport = chooseSshClient({
      asked,
      hops: hops.map(({ needs }) => needs),
      client:
        process.platform !== 'win32' && hopsTo(target).every(({ system }) => system),
    });
  } catch (error) {
    throw withNotices(error, [...notices]);
  }
  if (transport.kind === 'system') return { target, transport, notices: [...notices] };
  for (const { notRead } of hops) notRead.forEach((notice) => notices.add(notice));
  return { target: withoutRoute(target), transport, notices: [...notices] };
}

function withoutRoute({ system: _, ...target }: SshTarget): SshTarget {
  return { ...target, jumps: target.jumps.map(withoutRoute) };
}

async function resolveHost(
  destination: Destination,
  resolving: Resolving,
  behind: readonly string[],
): Promise<SshTarget> {
  const { name } = destination;
  const { options, notices } = resolving;
  if (behind.length >= MOST_JUMPS || behind.includes(name)) {
    throw configInvalid(
      `the jump hosts form a loop: ${[...behind, name].join(' -> ')}`,
      name,
    );
  }
  const { values, expanded } = await valuesOf(destination, options, notices);
  const first = (keyword: string): string | undefined => values.get(keyword)?.[0];

  const given = first('proxycommand');
  const command = options.jump === undefined && given !== 'none' ? given : undefined;
  const notRead = [first(NOT_READ)]
    .filter((value) => value !== undefined && value !== 'none')
    .map(
      (value) => `${name}: KnownHostsCommand ${value} is not supported and was ignored`,
    );

  const hostName = first('hostname');
  const host = plainAddress(
    hostName === undefined || expanded
      ? (hostName ?? name)
      : expandTokens(hostName, { h: name }),
  );
  const port = destination.port ?? numberOf(first('port'), DEFAULT_PORT, name);
  const user = destination.user ?? first('user') ?? os.userInfo().username;
  const hostKeyAlias = first('hostkeyalias');
  const home = homeOf(options);
  const environment = options.environment ?? process.env;
  const context: ExpansionContext = {
    name,
    host,
    port,
    user,
    home,
    environment,
    alias: hostKeyAlias ?? name,
    localUser: os.userInfo().username,
  };
  const expand = (text: string): string => expandPath(text, context);
  /** `ssh -G` prints most paths fully expanded. */
  const paths = (keyword: string): readonly string[] | undefined =>
    values
      .get(keyword)
      ?.filter((file) => file !== 'none')
      .map((file) => (expanded ? file : expand(file)));

  const jumps = await resolveJumps(options.jump ?? first('proxyjump'), resolving, [
    ...behind,
    name,
  ]);
  const revoked = first('revokedhostkeys');
  const userKnownHosts = paths('userknownhostsfile');
  const globalKnownHosts = paths('globalknownhostsfile');
  const target = sshTarget(
    {
      host,
      port,
      user,
      ...(name === host ? {} : { alias: name }),
      ...identitiesOf(values.get('identityfile'), expand, options, home),
      identitiesOnly: options.identitiesOnly ?? isYes(first('identitiesonly')),
      agent: agentOf(first('identityagent'), environment, expanded ? String : expand),
      jumps,
      hostKeyAlias: hostKeyAlias?.toLowerCase(),
      strictHostKeyChecking: checkingOf(first('stricthostkeychecking'), name),
      ...(userKnownHosts === undefined ? {} : { userKnownHosts }),
      ...(globalKnownHosts === undefined ? {} : { globalKnownHosts }),
      ...(revoked === undefined || revoked === 'none'
        ? {}
        : { revokedHostKeys: expand(revoked) }),
      ...connectTimeout(first('connecttimeout'), name),
      ...keepalive(first('serveraliveinterval'), name),
      ...(expanded
        ? {
            system: {
              ...destination,
              configFile: options.configFile,
              identities: givenIdentities(options, home),
              identitiesOnly: options.identitiesOnly,
              proxyCommand: command !== undefined && jumps.length === 0,
            },
          }
        : {}),
    },
    environment,
    home,
  );
  const needs = needsOf(target, values, { name, command, expand });
  const { system } = target;
  const { certificates } = needs;
  const whole =
    system === undefined ? target : { ...target, system: { ...system, certificates } };
  resolving.hops.push({ target: whole, needs, notRead });
  return whole;
}

/** The spelling of an IPv6 address in `ssh -G` and known_hosts files. */
function plainAddress(host: string): string {
  if (isIP(host) !== 6 || host.includes('%')) return host;
  return URL.parse(`http://[${host}]`)?.hostname.slice(1, -1) ?? host;
}

/**
 * Resolves a list of jump hosts. The first may have jumps of its own, as with OpenSSH's -J;
 * the others follow it.
 */
async function resolveJumps(
  text: string | undefined,
  resolving: Resolving,
  behind: readonly string[],
): Promise<readonly SshTarget[]> {
  if (text === undefined || /^none$/i.test(text)) return [];
  const jumps: SshTarget[] = [];
  for (const [index, jump] of parseJumps(text).entries()) {
    const options: ResolveOptions = {
      ...resolving.options,
      identities: undefined,
      identitiesOnly: undefined,
      jump: index === 0 ? undefined : 'none',
    };
    jumps.push(await resolveHost(jump, { ...resolving, options }, behind));
  }
  return jumps;
}
