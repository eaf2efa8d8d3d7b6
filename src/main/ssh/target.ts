/**
 * The host to connect to by SSH, and how: as the user wrote it, or as ~/.ssh/config
 * resolves it. Plain data; it names files and sockets and holds no secret.
 */
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { inputError } from '../../shared/errors/errors.ts';

/** OpenSSH's StrictHostKeyChecking; `host-key-decision.ts` says what each does here. */
export type HostKeyChecking = 'yes' | 'accept-new' | 'ask' | 'no';

/** The route for the system's `ssh`. */
interface SystemRoute {
  /** The host's name in ~/.ssh/config. */
  readonly name: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  /** Read instead of the user's and the system's file. */
  readonly configFile?: string | undefined;
  /** Key files in addition to configured ones. */
  readonly identities: readonly string[];
  /** IdentitiesOnly, if it is not left to the configuration. */
  readonly identitiesOnly?: boolean | undefined;
  /** Whether its configured ProxyCommand is used. */
  readonly proxyCommand: boolean;
  /** Existing files of the user's certificates, for messages. */
  readonly certificates?: readonly string[] | undefined;
}

export interface SshTarget {
  /** Name or address as the network knows it, not an alias of ~/.ssh/config. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** The host's `Host` in ~/.ssh/config, if that is another name; only for messages. */
  readonly alias?: string | undefined;
  /** Files of private keys, in the order in which they are tried. */
  readonly identities: readonly string[];
  /** Keys among `identities` that the user did not name: OpenSSH's default keys. */
  readonly defaultIdentities: readonly string[];
  /** Use only those keys of the agent that are in `identities`. */
  readonly identitiesOnly: boolean;
  /** The agent's socket. */
  readonly agent?: string | undefined;
  /** Jump hosts, the directly reached one first. */
  readonly jumps: readonly SshTarget[];
  /** The name under which known_hosts files have this host, instead of its own. */
  readonly hostKeyAlias?: string | undefined;
  readonly strictHostKeyChecking: HostKeyChecking;
  /** Files of known host keys. They are read, never written. */
  readonly userKnownHosts: readonly string[];
  readonly globalKnownHosts: readonly string[];
  /** A file of keys that no host may have; if it cannot be read, none is accepted. */
  readonly revokedHostKeys?: string | undefined;
  /**
   * Time limit for each hop to connect, exchange keys and authenticate, without
   * questions.
   */
  readonly connectTimeoutMs: number;
  /** Interval of keep-alives; after three missing answers a connection is lost. */
  readonly keepaliveSeconds: number;
  /** Set if the system's `ssh` connects to it and to every hop before it. */
  readonly system?: SystemRoute | undefined;
}

export const DEFAULT_PORT = 22;
const DEFAULT_CONNECT_TIMEOUT_MS = 15_000;
/** A cut link is noticed after four of them. */
const DEFAULT_KEEPALIVE_SECONDS = 5;

/** The existing ones of OpenSSH's default keys, in its order. */
const DEFAULT_IDENTITIES = ['id_rsa', 'id_ecdsa', 'id_ed25519'];

/** Fills in OpenSSH's defaults. */
export function sshTarget(
  given: Pick<SshTarget, 'host'> & Partial<SshTarget>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home = os.userInfo().homedir,
): SshTarget {
  const directory = path.join(home, '.ssh');
  const inDirectory = (name: string): string => path.join(directory, name);
  const existing = (): readonly string[] =>
    DEFAULT_IDENTITIES.map(inDirectory).filter((file) => existsSync(file));
  const defaultIdentities =
    given.defaultIdentities ?? (given.identities === undefined ? existing() : []);
  return {
    port: DEFAULT_PORT,
    user: os.userInfo().username,
    identities: defaultIdentities,
    defaultIdentities,
    identitiesOnly: false,
    agent: environment['SSH_AUTH_SOCK'],
    jumps: [],
    strictHostKeyChecking: 'ask',
    userKnownHosts: ['known_hosts', 'known_hosts2'].map(inDirectory),
    globalKnownHosts: ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2'],
    connectTimeoutMs: DEFAULT_CONNECT_TIMEOUT_MS,
    keepaliveSeconds: DEFAULT_KEEPALIVE_SECONDS,
    ...given,
  };
}

/** The target's place in messages: `user@host:port`. */
export function placeOf({ user, host, port }: SshTarget): string {
  return `${user}@${hostAndPort(host, port)}`;
}

/** Names a hop in messages: `the jump host door (10.0.0.7)`. */
export function hopText({ host, alias }: SshTarget, isJump: boolean): string {
  const name = alias === undefined ? host : `${alias} (${host})`;
  return isJump ? `the jump host ${name}` : name;
}

/** All hops to a target, itself last. A hop's own jumps come before it. */
export function hopsTo(target: SshTarget): readonly SshTarget[] {
  return [...target.jumps.flatMap(hopsTo), target];
}

/** The last jump host as a target of its own, with those before it as its jumps. */
export function lastJump(target: SshTarget): SshTarget | undefined {
  const before = hopsTo(target).slice(0, -1);
  const last = before.pop();
  return last && { ...last, jumps: before.map((hop) => ({ ...hop, jumps: [] })) };
}

const MOST_HOPS = 8;

/** All hops to a target, checked. @throws GradwireError `SSH_TARGET_INVALID` */
export function routeTo(target: SshTarget): readonly SshTarget[] {
  const route = hopsTo(target);
  if (route.length > MOST_HOPS) {
    throw inputError(
      'SSH_TARGET_INVALID',
      `${route.length} jump hosts; at most ${MOST_HOPS} are allowed`,
    );
  }
  route.forEach(checkTarget);
  return route;
}

const HOST_NAME = /^[A-Za-z0-9_.:%][A-Za-z0-9_.:%-]*$/;

/**
 * Names go into messages, known_hosts lines, requests and the arguments of `ssh -G`, so
 * anything that could be read as something else is not a valid name.
 * @throws GradwireError `SSH_TARGET_INVALID`
 */
export function checkHostName(name: string): void {
  if (!HOST_NAME.test(name)) invalid(`${JSON.stringify(name)} is not a host name`);
}

/** @throws GradwireError `SSH_TARGET_INVALID` */
export function checkUserName(user: string): void {
  if (!/^[^\p{C}\s-][^\p{C}\s]*$/u.test(user)) {
    invalid(`${JSON.stringify(user)} is not a user name`);
  }
}

/** @throws GradwireError `SSH_TARGET_INVALID` */
export function checkPort(port: number, given = String(port)): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    invalid(`${given} is not a port`);
}

/** @throws GradwireError `SSH_TARGET_INVALID` */
export function checkTarget({ host, port, user, hostKeyAlias }: SshTarget): void {
  checkHostName(host);
  if (hostKeyAlias !== undefined) checkHostName(hostKeyAlias);
  checkPort(port);
  checkUserName(user);
}

function invalid(what: string): never {
  throw inputError('SSH_TARGET_INVALID', what, {
    next: 'Give a host name or address, a port from 1 to 65535 and a user name.',
  });
}
