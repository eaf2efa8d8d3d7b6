/**
 * A real OpenSSH server on loopback, with keys, a configuration and an account's home of its
 * own in a temporary directory. It lets in the user who runs the tests, by key.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { sshTarget, type SshTarget } from '../../src/main/ssh/target.ts';
import { childrenOf, isAlive, until, type ProcessEntry } from './processes.ts';
import { makeKey, type KeyType } from './ssh-keys.ts';

export interface SshServerOptions {
  /** Types of its host keys. */
  readonly hostKeys?: readonly KeyType[];
  readonly sftp?: boolean;
  /** What it says before it lets anybody in. */
  readonly banner?: string;
  /** What runs instead of the command that was asked for (ForceCommand). */
  readonly forcedCommand?: string;
  /** Whether it takes connections on to other hosts. */
  readonly forwarding?: boolean;
  /** What the account's .bashrc prints or does; bash reads it for every command. */
  readonly shellStart?: string;
  /**
   * The user's password in this server's eyes, and that alone: it gets a password file and
   * PAM rules of its own in a mount namespace. Linux, as root (`passwordsMissing`).
   */
  readonly password?: string;
  /**
   * The user's login shell, by a password file in a mount namespace. Linux, as root
   * (`passwordsMissing`).
   */
  readonly loginShell?: string;
  /** Directories of this machine that others lie over, there alone. Linux, as root. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** Where it listens: an address, and what goes before its command to be there. */
  readonly place?: { readonly host: string; readonly prefix: readonly string[] };
  /** Lines of sshd_config that come before the others. */
  readonly config?: readonly string[];
}

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) =>
  existsSync(file),
);
const ATTEMPTS = 5;

/** Before a command that is to end with the process that started it, even one killed. */
const LEASHED = existsSync('/usr/bin/setpriv')
  ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM']
  : [];

export class SshServer implements AsyncDisposable {
  /** Everything of this server, and free space for its test. */
  readonly directory: string;
  /** Home directory of those who log in. */
  readonly home: string;
  /** A private key that is let in. */
  readonly key: string;
  /** A known_hosts file with this server's keys. */
  readonly knownHosts: string;
  #port = 0;
  #child: ChildProcess | undefined;
  #log = '';
  readonly #options: SshServerOptions;

  private constructor(options: SshServerOptions) {
    this.#options = options;
    this.directory = mkdtempSync(path.join(tmpdir(), 'gradwire-sshd-'));
    this.home = path.join(this.directory, 'home');
    mkdirSync(this.home);
    if (options.shellStart !== undefined) {
      writeFileSync(path.join(this.home, '.bashrc'), options.shellStart);
    }
    for (const type of options.hostKeys ?? ['ed25519']) this.makeHostKey(type);
    this.key = makeKey(path.join(this.directory, 'id_ed25519'));
    this.authorize(this.key);
    this.knownHosts = path.join(this.directory, 'known_hosts');
  }

  static async start(options: SshServerOptions = {}): Promise<SshServer> {
    const server = new SshServer(options);
    try {
      await server.start();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get host(): string {
    return this.#options.place?.host ?? '127.0.0.1';
  }

  get port(): number {
    return this.#port;
  }

  /** What it has logged. */
  get log(): string {
    return this.#log;
  }

  /** How to reach it with what this directory has; nothing of the user's own is read. */
  target(given: Partial<SshTarget> = {}): SshTarget {
    return sshTarget({
      host: this.host,
      port: this.#port,
      identities: [this.key],
      agent: undefined,
      strictHostKeyChecking: 'yes',
      userKnownHosts: [this.knownHosts],
      globalKnownHosts: [],
      ...given,
    });
  }

  /** Lets the owner of a private key in. */
  authorize(key: string): void {
    writeFileSync(
      path.join(this.directory, 'authorized_keys'),
      readFileSync(`${key}.pub`),
      { flag: 'a' },
    );
  }

  /** Lets nobody else in from now on. */
  authorizeOnly(key: string): void {
    rmSync(path.join(this.directory, 'authorized_keys'));
    this.authorize(key);
  }

  /** A new host key in the place of the one of that type; a restart brings it into use. */
  makeHostKey(type: KeyType): void {
    const file = this.#hostKey(type);
    rmSync(file, { force: true });
    makeKey(file, { type });
  }

  /** `TYPE KEY` of a host key, as known_hosts files have it. */
  hostKey(type: KeyType = 'ed25519'): string {
    return readFileSync(`${this.#hostKey(type)}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  }

  fingerprint(type: KeyType = 'ed25519'): string {
    const line = run('ssh-keygen', ['-l', '-f', `${this.#hostKey(type)}.pub`]);
    return line.split(' ')[1]!;
  }

  /** Processes that serve connections now. */
  sessions(): readonly ProcessEntry[] {
    return this.#child?.pid === undefined ? [] : childrenOf(this.#child.pid, 'sshd');
  }

  /** Cuts all connections, as when the network or the machine goes. */
  async cutSessions(): Promise<void> {
    const sessions = this.sessions();
    for (const { pid } of sessions) kill(pid, 'SIGKILL');
    await until(
      () => sessions.filter(isAlive),
      (left) => left.length === 0,
      'the sessions to end',
    );
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    await this.cutSessions();
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await ended;
    this.#child = undefined;
  }

  /** Starts it; again at the same port, where it has had one. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const port = this.#port === 0 ? await freePort() : this.#port;
      if (await this.#listen(port)) {
        this.#port = port;
        break;
      }
      if (attempt === ATTEMPTS) throw new Error(`sshd does not start: ${this.#log}`);
      // Somebody else was given the port in between.
      this.#port = 0;
    }
    this.#writeKnownHosts();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #hostKey(type: KeyType): string {
    return path.join(this.directory, `host_${type}`);
  }

  #writeKnownHosts(): void {
    const types = this.#options.hostKeys ?? ['ed25519'];
    const lines = types.map(
      (type) => `[${this.host}]:${this.#port} ${this.hostKey(type)}\n`,
    );
    writeFileSync(this.knownHosts, lines.join(''));
  }

  /** Whether it listens; not where the port is taken. */
  async #listen(port: number): Promise<boolean> {
    if (SSHD === undefined) throw new Error('no sshd: scripts/prerequisites.ts');
    const file = path.join(this.directory, 'sshd_config');
    writeFileSync(file, this.#config(port));
    // As root, sshd insists on its directory for privilege separation.
    if (process.getuid?.() === 0)
      mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const { prefix = [] } = this.#options.place ?? {};
    const command = [...prefix, SSHD, '-D', '-e', '-f', file];
    const own =
      this.#options.password === undefined ? command : this.#withPassword(command);
    const full = withMounts(this.#mounts(), own);
    const [program, ...args] = [...LEASHED, ...full];
    const child = spawn(program!, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
    const listens = new RegExp(
      `Server listening on ${this.host.replaceAll('.', '\\.')} port ${port}\\.`,
    );
    const start = this.#log.length;
    await until(
      () => ({
        listens: listens.test(this.#log.slice(start)),
        ended: child.exitCode !== null || child.signalCode !== null,
      }),
      ({ listens, ended }) => listens || ended,
      'sshd to listen',
    );
    if (child.exitCode === null && child.signalCode === null) return true;
    this.#child = undefined;
    if (!/Address already in use/.test(this.#log)) throw new Error(this.#log);
    return false;
  }

  /** What lies over what of this machine: files and directories. */
  #mounts(): Readonly<Record<string, string>> {
    const { loginShell, mounts = {} } = this.#options;
    if (loginShell === undefined) return mounts;
    const passwords = path.join(this.directory, 'passwd');
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const own = lines.map((line) =>
      line.startsWith(`${testUser}:`) ? line.replace(/[^:]*$/, loginShell) : line,
    );
    writeFileSync(passwords, own.join('\n'));
    return { '/etc/passwd': passwords, ...mounts };
  }

  /** The command in a mount namespace where a password file of ours lies over the system's. */
  #withPassword(command: readonly string[]): readonly string[] {
    const { password = '' } = this.#options;
    const shadow = path.join(this.directory, 'shadow');
    const pam = path.join(this.directory, 'pam');
    // Over stdin, as no secret may be seen in arguments.
    const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], {
      input: `${password}\n`,
      encoding: 'utf8',
    });
    writeFileSync(shadow, `${testUser}:${hash.trim()}:19000:0:99999:7:::\n`, {
      mode: 0o600,
    });
    const rules = [
      'auth required pam_unix.so nodelay',
      'account required pam_permit.so',
    ];
    writeFileSync(pam, [...rules, 'session required pam_permit.so', ''].join('\n'));
    const mounts = `mount --bind "$1" /etc/shadow && mount --bind "$2" /etc/pam.d/sshd`;
    return [
      ...['unshare', '--mount', '--propagation', 'private'],
      ...['sh', '-c', `${mounts} && shift 2 && exec "$@"`, 'sh', shadow, pam],
      ...command,
    ];
  }

  #config(port: number): string {
    const {
      hostKeys = ['ed25519'],
      sftp = true,
      banner,
      forcedCommand,
    } = this.#options;
    const { forwarding = true, config = [] } = this.#options;
    const bannerFile = path.join(this.directory, 'banner');
    if (banner !== undefined) writeFileSync(bannerFile, banner);
    return [
      ...config,
      `Port ${port}`,
      `ListenAddress ${this.host}`,
      'PidFile none',
      'LogLevel VERBOSE',
      ...hostKeys.map((type) => `HostKey ${this.#hostKey(type)}`),
      `AuthorizedKeysFile ${path.join(this.directory, 'authorized_keys')}`,
      'StrictModes no',
      'PermitRootLogin yes',
      ...['UsePAM', 'PasswordAuthentication', 'KbdInteractiveAuthentication'].map(
        (keyword) =>
          `${keyword} ${this.#options.password === undefined ? 'no' : 'yes'}`,
      ),
      'PrintMotd no',
      'PrintLastLog no',
      `AllowTcpForwarding ${forwarding ? 'yes' : 'no'}`,
      `SetEnv HOME=${this.home}`,
      ...(sftp ? ['Subsystem sftp internal-sftp'] : []),
      ...(banner === undefined ? [] : [`Banner ${bannerFile}`]),
      ...(forcedCommand === undefined ? [] : [`ForceCommand ${forcedCommand}`]),
      '',
    ].join('\n');
  }
}

/** The command in a mount namespace where these lie over parts of this machine. */
function withMounts(
  mounts: Readonly<Record<string, string>>,
  command: readonly string[],
): readonly string[] {
  if (Object.keys(mounts).length === 0) return command;
  const pairs = Object.entries(mounts).flatMap(([place, source]) => [source, place]);
  const script =
    'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 1; shift 2; done; ' +
    'shift; exec "$@"';
  return [
    ...['unshare', '--mount', '--propagation', 'private'],
    ...['sh', '-c', script, 'sh', ...pairs, '--', ...command],
  ];
}

/** Why this machine cannot have servers with passwords; undefined where it can. */
export function passwordsMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'needs root on Linux';
  const tools = ['/usr/bin/unshare', '/usr/bin/openssl', '/etc/pam.d/sshd'];
  const absent = tools.find((file) => !existsSync(file));
  return absent === undefined ? undefined : `no ${absent}`;
}

/** The name of whoever runs the tests. */
export const testUser = os.userInfo().username;

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8' });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in between.
  }
}

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
