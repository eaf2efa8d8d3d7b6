/**
 * The arguments of the system's `ssh`, so that it connects as configured and does nothing
 * else: no forwarding, no local command, no sharing with the user's own sessions, and no
 * writing except to our file of accepted host keys. Arguments override every file. Jump
 * hosts get their own calls, nested as ProxyCommands, because `ProxyJump` would pass none
 * of this on.
 */
import { hostAndPort } from '../../shared/machines/destination.ts';
import { shellWord } from '../../shared/words/shell-word.ts';
import { hopsTo, type SshTarget } from './target.ts';

/** Consecutive keep-alives that may stay unanswered, as in the built-in client. */
const KEEPALIVES_MISSED = 3;

export interface SystemCall {
  /** The master's control socket, to be created. */
  readonly socket: string;
  /** The log file that it appends to. */
  readonly log: string;
  /** The file for accepted host keys. */
  readonly acceptedHostKeys: string;
  /** Whether a hop may use passwords and keyboard-interactive questions. */
  readonly passwords: (hop: SshTarget) => boolean;
}

/** The master's arguments: one connection that runs nothing. */
export function masterArguments(
  target: SshTarget,
  call: SystemCall,
): readonly string[] {
  const share = ['-M', '-S', call.socket.replaceAll('%', '%%'), '-N', '-T'];
  return [...share, ...reach(hopsTo(target), call)];
}

/** The ProxyCommand that reaches the last hop through those before it. */
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
    ...(route.identitiesOnly === undefined
      ? []
      : ['-o', `IdentitiesOnly=${route.identitiesOnly ? 'yes' : 'no'}`]),
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
  // No jump, not even a configured one.
  return target.system?.proxyCommand === true ? [] : ['-o', 'ProxyCommand=none'];
}

type Setting = readonly [keyword: string, value: string | number];

function settings(target: SshTarget, call: SystemCall): readonly Setting[] {
  const passwords = call.passwords(target) ? 'yes' : 'no';
  const knownHosts = [call.acceptedHostKeys, ...target.userKnownHosts];
  return [
    // Older and newer clients have different options; `ssh -G` has checked the
    // configuration.
    ['IgnoreUnknown', '*'],
    // We decide about every unknown key, under the user's own setting.
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

/** Escapes a word of ssh_config(5), in which % begins a token. */
const quoted = (path: string): string =>
  `"${path.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
