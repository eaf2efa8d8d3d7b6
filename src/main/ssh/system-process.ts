/**
 * The `ssh` that holds a connection, as a process of ours. It has no terminal, so it asks
 * only us and ignores a Ctrl-C meant for others. It never outlives us: beside it a shell
 * reads a pipe whose other end is ours. If the pipe closes without a message, because we
 * were killed, the shell ends `ssh` and everything it has started, such as a ProxyCommand,
 * and removes its directory.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/** $1: the directory to remove. `exec` makes the process that we start `ssh` itself. */
const GUARDED = `
directory=$1
shift
{
  trap '' HUP INT TERM USR1 USR2
  if read -r word; then exit 0; fi
  rm -rf "$directory"
  kill -s TERM -- -$$
  sleep 1
  rm -rf "$directory"
  kill -s KILL -- -$$
} <&3 >/dev/null 2>&1 &
exec "$@" 3<&-
`;

const STDERR_TAIL = 16_384;
/** Most time for `ssh` to end when asked; then it is killed. */
const PATIENCE_MS = 2000;

export class SystemProcess {
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #stderr = '';
  #hasEnded = false;

  /** @param directory removed if we are killed */
  constructor(
    command: readonly string[],
    directory: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    const args = ['-c', GUARDED, 'ssh', directory, ...command];
    const child: ChildProcess = spawn('/bin/sh', args, {
      detached: true,
      // Not its stdin, because Node closes that when `ssh` ends.
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: environment,
    });
    this.#child = child;
    // A process that could not be started may have no streams; its error event follows.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    const guard = child.stdio?.[3] as Writable | undefined;
    // The guard may be gone already.
    guard?.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        // Releases the guard: nothing is left to end.
        guard?.end('over\n');
        resolve();
      };
      child.once('error', (error) => {
        this.#stderr += error.message;
        end();
      });
      child.once('exit', end);
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The tail of the output of `ssh` and its ProxyCommand. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Ends it and everything it has started; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM');
    const last = setTimeout(() => {
      this.#signal('SIGKILL');
    }, PATIENCE_MS);
    await this.ended;
    clearTimeout(last);
  }

  /** `ssh` leads its group, and the group exists until `ssh` has been waited for. */
  #signal(signal: NodeJS.Signals): void {
    if (this.#hasEnded || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      this.#child.kill(signal);
    }
  }
}
