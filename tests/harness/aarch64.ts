/**
 * A machine with an aarch64 processor: Debian's system for it in a directory, whose programs run under QEMU's
 * user emulation, with an OpenSSH server of its own on loopback. Kernel, network and process numbers are
 * this computer's. As root on Debian; takes its tools from Debian, installs
 * nothing, and needs some 600 MB in the temporary directory while it lives.
 *
 * QEMU computes as an aarch64 processor does, to the last bit. It runs on this computer's memory, whose order is
 * stronger: what a real machine may see of another thread's writes cannot be tested by it.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from './processes.ts';
import { makeKey } from './ssh-keys.ts';
import { freePort } from './sshd.ts';

const MIRROR = 'http://deb.debian.org/debian';
const TOOLS = ['qemu-user-static', 'debootstrap'];
const BINFMT = '/proc/sys/fs/binfmt_misc';
/** The kernel hands aarch64's programs to QEMU by this entry, while the machine lives. */
const ENTRY = 'gradwire-test-aarch64';
/** A 64-bit ELF file for aarch64, and which of its bytes count. */
const MAGIC = '7f454c460201010000000000000000000200b700';
const MASK = 'ffffffffffffff00fffffffffffffffffeffffff';
const escaped = (hex: string): string => hex.replaceAll(/../g, '\\x$&');

/** Why this computer cannot have one; undefined where it can. */
export function aarch64Missing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'needs root on Linux';
  if (process.arch !== 'x64') return 'needs a processor of another kind: x86_64';
  const programs = ['/usr/bin/apt-get', '/usr/bin/dpkg', '/usr/sbin/chroot'];
  const absent = programs.find((file) => !existsSync(file));
  if (absent !== undefined) return `no ${absent}`;
  return existsSync('/proc/sys/fs/binfmt_misc') ? undefined : 'no binfmt_misc';
}

export class Aarch64Machine implements AsyncDisposable {
  /** A private key that is let in as root. */
  readonly key: string;
  port = 0;
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'gradwire-aarch64-'));
  readonly #root = path.join(this.#directory, 'root');
  #child: ChildProcess | undefined;
  #log = '';

  private constructor() {
    this.key = makeKey(path.join(this.#directory, 'id'));
  }

  static async start(): Promise<Aarch64Machine> {
    const machine = new Aarch64Machine();
    try {
      machine.#install();
      await machine.#listen();
    } catch (error) {
      await machine[Symbol.asyncDispose]();
      throw error;
    }
    return machine;
  }

  /** The home of who logs in, as a path of this computer. */
  get home(): string {
    return path.join(this.#root, 'root');
  }

  get fingerprint(): string {
    const key = path.join(this.#root, 'etc/ssh/ssh_host_ed25519_key.pub');
    return run('ssh-keygen', ['-l', '-f', key]).split(' ')[1]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    forget();
    // Nothing is mounted there: its mounts are in a namespace that has ended.
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #install(): void {
    const tools = path.join(this.#directory, 'tools');
    const packages = path.join(this.#directory, 'packages');
    mkdirSync(packages);
    run('apt-get', ['download', '-q', ...TOOLS], { cwd: packages });
    for (const file of readdirSync(packages)) {
      run('dpkg', ['-x', path.join(packages, file), tools]);
    }
    if (!existsSync(`${BINFMT}/register`)) {
      run('mount', ['-t', 'binfmt_misc', 'none', BINFMT]);
    }
    forget();
    const qemu = path.join(tools, 'usr/bin/qemu-aarch64-static');
    // F: opened now, so that it is found in the machine's directory too.
    const entry = `:${ENTRY}:M:0:${escaped(MAGIC)}:${escaped(MASK)}:${qemu}:F`;
    writeFileSync(`${BINFMT}/register`, entry);
    const release = /^VERSION_CODENAME=(.*)$/m.exec(
      readFileSync('/etc/os-release', 'utf8'),
    )![1]!;
    const debootstrap = path.join(tools, 'usr/sbin/debootstrap');
    const include = '--include=openssh-server';
    run(
      debootstrap,
      [
        ...['--arch=arm64', '--foreign', '--variant=minbase', include],
        ...[release, this.#root, MIRROR],
      ],
      {
        env: {
          ...process.env,
          DEBOOTSTRAP_DIR: path.join(tools, 'usr/share/debootstrap'),
        },
      },
    );
    run('chroot', [this.#root, '/debootstrap/debootstrap', '--second-stage']);
    mkdirSync(path.join(this.#root, 'run/sshd'), { recursive: true });
    const keys = path.join(this.#root, 'root/.ssh');
    mkdirSync(keys, { mode: 0o700 });
    writeFileSync(path.join(keys, 'authorized_keys'), readFileSync(`${this.key}.pub`));
  }

  async #listen(): Promise<void> {
    this.port = await freePort();
    const config = [
      `Port ${this.port}`,
      'ListenAddress 127.0.0.1',
      'PidFile none',
      'HostKey /etc/ssh/ssh_host_ed25519_key',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'UsePAM no',
      '',
    ];
    writeFileSync(path.join(this.#root, 'etc/ssh/test_config'), config.join('\n'));
    const script =
      'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && ' +
      'exec chroot "$1" /usr/sbin/sshd -D -e -f /etc/ssh/test_config';
    const child = spawn(
      'unshare',
      [
        ...['--mount', '--propagation', 'private', '/usr/bin/setpriv'],
        ...['--pdeathsig', 'TERM', 'sh', '-c', script, 'sh', this.#root],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
    await until(
      () => this.#log.includes('Server listening') || child.exitCode !== null,
      (over) => over,
      'sshd to listen',
    );
    if (child.exitCode !== null) throw new Error(`sshd does not start: ${this.#log}`);
  }
}

/** Takes the entry away, ours or one of a test that was killed. */
function forget(): void {
  const entry = path.join(BINFMT, ENTRY);
  if (existsSync(entry)) writeFileSync(entry, '-1');
}

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  return execFileSync(command, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
