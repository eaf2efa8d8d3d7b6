/**
 * Resolves a name to a target by ~/.ssh/config, through OpenSSH's client if there is one,
 * otherwise by our own parser. Every jump host is resolved in turn.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { failure, GradwireError, withNotices } from '../../../shared/errors/errors.ts';
import type {
  ChosenSshClient,
  TransportChoice,
} from '../../../shared/machines/ssh-transport.ts';
import {
  DEFAULT_PORT,
  hopsTo,
  sshTarget,
  type HostKeyChecking,
  type SshTarget,
} from '../target.ts';
import { configInvalid, readConfigFile, type ConfigLine } from './config-file.ts';
import { parseDestination, parseJumps, type Destination } from './destination.ts';
import { expandPath, expandTokens, type ExpansionContext } from './expansion.ts';
import { isYes, needsOf } from './hop-needs.ts';
import { askOpenssh } from './openssh-client.ts';
import { configOf, hostNamesOf, type ConfigValues } from './own-parser.ts';
import { chooseSshClient, type HopNeeds } from './ssh-client-choice.ts';

export interface ResolveOptions {
  /** Read instead of the user's and the system's file, as with `ssh -F`. */
  readonly configFile?: string | undefined;
  /** `own`: never ask OpenSSH's client. */
  readonly parser?: 'openssh' | 'own' | undefined;
  readonly home?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Files of keys that are tried first. */
  readonly identities?: readonly string[] | undefined;
  /** Instead of the configured IdentitiesOnly. */
  readonly identitiesOnly?: boolean | undefined;
  /** Instead of the configured ProxyJump: its value, or `none`. */
  readonly jump?: string | undefined;
  /** The SSH client to use; default: `auto`. */
  readonly transport?: TransportChoice | undefined;
}

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
      ...milliseconds(first('connecttimeout'), name),
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

async function valuesOf(
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

function configLines(
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

/** OpenSSH uses the password file, not $HOME. */
function homeOf({ home }: ResolveOptions): string {
  return home ?? os.userInfo().homedir;
}

const LOOKED_FOR = /^id_(rsa|dsa|xmss|(ecdsa|ed25519)(_sk)?)$/;
/** `ssh -G` lists all of OpenSSH's default keys if none is configured: five or more. */
const FEWEST_DEFAULTS = 4;

function identitiesOf(
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

/** Typed into a form, where no shell expands them: ~ and relative paths are the home's. */
function givenIdentities(options: ResolveOptions, home: string): readonly string[] {
  return (options.identities ?? []).map((file) =>
    path.resolve(home, file.replace(/^~(?=\/|$)/, home)),
  );
}

function agentOf(
  value: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  expand: (text: string) => string,
): string | undefined {
  if (value === undefined || value === 'SSH_AUTH_SOCK')
    return environment['SSH_AUTH_SOCK'];
  if (value === 'none') return undefined;
  return /^\$\w+$/.test(value) ? environment[value.slice(1)] : expand(value);
}

function checkingOf(value: string | undefined, place: string): HostKeyChecking {
  switch (value?.toLowerCase()) {
    case undefined:
    case 'ask':
      return 'ask';
    case 'yes':
    case 'true':
      return 'yes';
    case 'no':
    case 'off':
    case 'false':
      return 'no';
    case 'accept-new':
      return 'accept-new';
    default:
      throw configInvalid(`StrictHostKeyChecking ${value} is not valid`, place);
  }
}

function numberOf(text: string | undefined, otherwise: number, place: string): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw configInvalid(`${text} is not a number`, place);
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** Seconds of OpenSSH's time formats: 90, 1m30. */
function seconds(text: string, place: string): number {
  if (!/^(\d+[smhdw]?)+$/i.test(text))
    throw configInvalid(`${text} is not a time`, place);
  let sum = 0;
  for (const [, number, unit] of text.toLowerCase().matchAll(/(\d+)([smhdw]?)/g)) {
    sum += Number(number) * UNITS[unit!]!;
  }
  return sum;
}

function milliseconds(
  text: string | undefined,
  place: string,
): { readonly connectTimeoutMs?: number } {
  if (text === undefined || text === 'none') return {};
  const given = seconds(text, place);
  return given === 0 ? {} : { connectTimeoutMs: 1000 * given };
}

/** 0, OpenSSH's default, means none at all; a cut connection would go unnoticed. */
function keepalive(
  text: string | undefined,
  place: string,
): { readonly keepaliveSeconds?: number } {
  if (text === undefined) return {};
  const given = seconds(text, place);
  return given === 0 ? {} : { keepaliveSeconds: given };
}
