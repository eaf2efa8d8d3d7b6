/** Keys of SSH, and agents that hold them. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { untilAsync } from './processes.ts';
import { takesConnections } from './sockets.ts';

export type KeyType = 'ed25519' | 'ecdsa' | 'rsa';

export interface KeyOptions {
  readonly type?: KeyType;
  readonly passphrase?: string;
  readonly comment?: string;
  /** OpenSSH's format, or the older one of OpenSSL. */
  readonly format?: 'RFC4716' | 'PEM';
}

/** A new private key at the path, with its public part beside it. */
export function makeKey(
  file: string,
  {
    type = 'ed25519',
    passphrase = '',
    comment = 'test',
    format = 'RFC4716',
  }: KeyOptions = {},
): string {
  // One round of key derivation and short RSA keys: these guard nothing.
  const size = type === 'rsa' ? ['-b', '2048'] : [];
  execFileSync('ssh-keygen', [
    ...['-q', '-t', type, ...size, '-a', '1', '-m', format],
    ...['-N', passphrase, '-C', comment, '-f', file],
  ]);
  return file;
}

/** An ssh-agent with these keys, which have no passphrase. */
export class SshAgent implements AsyncDisposable {
  readonly socket: string;
  readonly #directory: string;
  readonly #child: ChildProcess;

  private constructor(directory: string, child: ChildProcess) {
    this.#directory = directory;
    this.socket = path.join(directory, 'agent');
    this.#child = child;
  }

  static async start(keys: readonly string[]): Promise<SshAgent> {
    const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-agent-'));
    const socket = path.join(directory, 'agent');
    // It ends with our end of the pipe: LEASHED does not hold a setgid program.
    const script = 'ssh-agent -D -a "$1" & cat; kill $!; wait';
    const child = spawn('sh', ['-c', script, 'sh', socket], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const agent = new SshAgent(directory, child);
    // Its socket is there a moment before anybody listens.
    await untilAsync(
      () => takesConnections(socket),
      (listens) => listens,
      'ssh-agent to listen',
    );
    for (const key of keys) {
      execFileSync('ssh-add', ['-q', key], {
        env: { ...process.env, SSH_AUTH_SOCK: socket },
        stdio: 'ignore',
      });
    }
    return agent;
  }

  /** `ssh-add -x`: it hides its keys until it is unlocked. */
  lock(password: string): void {
    this.#ask('-x', password);
  }

  unlock(password: string): void {
    this.#ask('-X', password);
  }

  /** `ssh-add` asks a program for passwords where it has no terminal. */
  #ask(what: string, password: string): void {
    const program = path.join(this.#directory, 'askpass');
    writeFileSync(program, `#!/bin/sh\necho '${password}'\n`, { mode: 0o700 });
    execFileSync('ssh-add', [what], {
      env: {
        ...process.env,
        SSH_AUTH_SOCK: this.socket,
        SSH_ASKPASS: program,
        SSH_ASKPASS_REQUIRE: 'force',
      },
      stdio: 'ignore',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin!.end();
    await ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
