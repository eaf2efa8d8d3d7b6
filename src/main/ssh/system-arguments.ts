/**
 * What the system's `ssh` is called with, so that it connects as its configuration says and
 * does nothing else: no forwarding, no local command, no sharing with the user's own
 * sessions, nothing written but our file of accepted host keys. What is given in arguments
 * comes before every file. Jump hosts get their own calls, nested as ProxyCommands:
 * `ProxyJump` would hand none of this on.
 */
import { hostAndPort } from '../../shared/destination.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { hopsTo, type SshTarget } from './target.ts';

/** Signs of life in a row that may stay without an answer, as the built-in client has it. */
const KEEPALIVES_MISSED = 3;

export interface SystemCall {
  /** Of the master, to be made. */
  readonly socket: string;
  /** To which it adds what it has to say. */
  readonly log: string;
  /** Where host keys go that were accepted. */
  readonly acceptedHostKeys: string;
  /** Whether a hop may use passwords, and questions of the server. */
  readonly passwords: (hop: SshTarget) => boolean;
}

/** The master's: one connection, and nothing run on it. */
export function masterArguments(
  target: SshTarget,
  call: SystemCall,
): readonly string[] {
  const share = ['-M', '-S', call.socket.replaceAll('%', '%%'), '-N', '-T'];
  return [...share, ...reach(hopsTo(target), call)];
}

/** How the last of the hops is reached through those before it. */
function reach(hops: readonly SshTarget[], call: SystemCall): readonly string[] {
  const target = hops.at(-1)!;
  const before = hops.slice(0, -1);
  const route = target.system;
  if (route === undefined) throw new Error('internal: a hop without a name for ssh');
  return [
    ...['-E', call.log],
    ...(route.configFile === undefined ? [] : ['-F', route.configFile]),
    ...settings(target, call).flatMap(([key, value]) => ['-o', `${key}=${value}`]),
    ...wayThrough(before, target, call),
    ...(route.user === undefined ? [] : ['-l', route.user]),
    ...(route.port === undefined ? [] : ['-p', String(route.port)]),
    ...route.identities.flatMap((file) => ['-i', file.replaceAll('%', '%%')]),
    ...['--', route.name],
  ];
}

function wayThrough(
  before: readonly SshTarget[],
  target: SshTarget,
  call: SystemCall,
): readonly string[] {
  if (before.length > 0) {
    const alone = ['-o', 'ControlMaster=no', '-o', 'ControlPath=none'];
    const jump = ['ssh', ...alone, '-W', hostAndPort(target.host, target.port)];
    const command = [...jump, ...reach(before, call)].map(shellWord).join(' ');
    return ['-o', `ProxyCommand=${command.replaceAll('%', '%%')}`];
  }
  // No jump is to be made: none of the configuration either.
  return target.system?.proxyCommand === true ? [] : ['-o', 'ProxyCommand=none'];
}

type Setting = readonly [keyword: string, value: string | number];

function settings(target: SshTarget, call: SystemCall): readonly Setting[] {
  const passwords = call.passwords(target) ? 'yes' : 'no';
  const knownHosts = [call.acceptedHostKeys, ...target.userKnownHosts];
  return [
    // Older and newer clients have other words; the configuration was checked by `ssh -G`.
    ['IgnoreUnknown', '*'],
    // Every key that is not known is decided on here, under the user's own setting.
    ['StrictHostKeyChecking', 'ask'],
    ['UserKnownHostsFile', knownHosts.map(quoted).join(' ')],
    ['UpdateHostKeys', 'no'],
    ['FingerprintHash', 'sha256'],
    ['VisualHostKey', 'no'],
    ['BatchMode', 'no'],
    ['PasswordAuthentication', passwords],
    ['KbdInteractiveAuthentication', passwords],
    ['NumberOfPasswordPrompts', 3],
    ['ConnectTimeout', Math.max(1, Math.round(target.connectTimeoutMs / 1000))],
    ['ServerAliveInterval', target.keepaliveSeconds],
    ['ServerAliveCountMax', KEEPALIVES_MISSED],
    ['LogLevel', 'INFO'],
    ['ControlPersist', 'no'],
    ['ClearAllForwardings', 'yes'],
    ['ForwardAgent', 'no'],
    ['ForwardX11', 'no'],
    ['Tunnel', 'no'],
    ['AddKeysToAgent', 'no'],
    ['PermitLocalCommand', 'no'],
    ['RemoteCommand', 'none'],
    ['RequestTTY', 'no'],
    ['ForkAfterAuthentication', 'no'],
  ];
}

/** A word of ssh_config(5), in which % begins a token. */
const quoted = (path: string): string =>
  `"${path.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
