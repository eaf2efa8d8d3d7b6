/**
 * The process of a program, in a process group of its own, beside a guard: should the rank end in
 * any way, also by SIGKILL, the guard removes the rank's socket and ends the whole group. What it prints is the rank's output.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import { MemoryKills } from '../memory/memory-kills.ts';
import type { ProgramExit, ProgramRun } from './program-run.ts';

export interface ProgramCommand {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Shell lines before it. */
  readonly setup?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a launcher starts the ranks of this machine, which find their sockets by themselves. */
  readonly launches?: boolean | undefined;
  /** The path of the rank's socket. */
  readonly bridge: string;
}

/** torchrun adds some 2 KiB to the traceback of a rank. */
const STDERR_TAIL = 16_384;
/** Time for its pipes to close once it has ended. */
const PRINTED_MS = 2000;
/** Seconds between the guard's request to end and its end by force. */
const GUARD_SECONDS = 5;

/**
 * The guard reads from descriptor 3, of which the rank has the other end, so reading ends when the
 * rank does. It survives the signal that it sends to its own group, and warnings of a batch system. $$ is the shell, whose place
 * the program takes: the leader of the group. The program waits for a line on descriptor 4.
 */
const GUARDED = [
  "(trap '' TERM INT HUP USR1 USR2; cat <&3 >/dev/null",
  'rm -f "$GRADWIRE_BRIDGE"; rmdir "${GRADWIRE_BRIDGE%/*}"',
  'kill -TERM -$$; left=' + String(10 * GUARD_SECONDS),
  'while kill -0 $$ && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done',
  'kill -KILL -$$) </dev/null >/dev/null 2>&1 4<&- &',
  'exec 3<&-; read -r _ <&4 || exit 1; exec 4<&-',
].join('\n');

export class ProgramProcess implements ProgramRun {
  readonly #child: ChildProcess;
  readonly #exit = Promise.withResolvers<ProgramExit>();
  /** The directory of the socket. */
  readonly #bridge: string;
  readonly #kills = new MemoryKills();
  #stderr = '';

  constructor(options: ProgramCommand) {
    const { bridge, command, env, launches = false, setup = [], workdir } = options;
    this.#bridge = path.dirname(bridge);
    const script = [
      GUARDED,
      ...(launches ? ['unset GRADWIRE_BRIDGE'] : []),
      ...setup,
      'exec "$@"',
    ].join('\n');
    this.#child = spawn('/bin/sh', ['-c', script, 'sh', ...command], {
      cwd: workdir,
      env: { ...env, GRADWIRE_BRIDGE: bridge },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const decoded = new StringDecoder('utf8');
    const { stdout } = this.#child;
    stdout?.on('data', (bytes: Buffer) => {
      if (process.stdout.write(bytes)) return;
      // A program prints no faster than its lines are carried away.
      stdout.pause();
      process.stdout.once('drain', () => stdout.resume());
    });
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + decoded.write(bytes)).slice(-STDERR_TAIL);
      process.stderr.write(bytes);
    });
    for (const pipe of this.#child.stdio.slice(3)) {
      // Its end is reported by the process's.
      pipe?.on('error', () => undefined);
    }
    this.#child.on('error', (error) => {
      this.#exit.reject(error);
    });
    this.#child.on('exit', (code, signal) => {
      this.#ended(code, signal);
    });
  }

  begin(): void {
    (this.#child.stdio[4] as Writable | undefined)?.end('\n');
  }

  get exit(): Promise<ProgramExit> {
    return this.#exit.promise;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends it to all processes of the group. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
      // One that is suspended would take it only when somebody continues it.
      process.kill(-this.#child.pid, 'SIGCONT');
    } catch {
      // All of them are gone.
    }
  }

  unlinked(): void {
    // Its process says when it has ended.
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    // First what the guard would remove, then the guard and what the program has left behind.
    rmSync(this.#bridge, { recursive: true, force: true });
    this.signal('SIGKILL');
    void this.#printed().then(() => {
      const reason = signal === 'SIGKILL' ? this.#kills.reason : undefined;
      this.#exit.resolve({ code, signal, stderr: this.#stderr, reason });
    });
  }

  /**
   * Resolves when what it printed last has left this process. A service that the program has started
   * in a session of its own may hold the pipes open for as long as it likes, and is not awaited.
   */
  async #printed(): Promise<void> {
    const pipes = [this.#child.stdout, this.#child.stderr].filter(
      (pipe) => pipe !== null,
    );
    const waited = new AbortController();
    const { signal } = waited;
    const late = sleep(PRINTED_MS, undefined, { signal }).catch(awaitedElsewhere);
    const closed = pipes.map((pipe) => pipe.closed || once(pipe, 'close', { signal }));
    await Promise.race([Promise.all(closed).catch(awaitedElsewhere), late]);
    waited.abort();
    for (const pipe of pipes) pipe.destroy();
    const written = [process.stdout, process.stderr].map(
      (stream) =>
        new Promise<void>((resolve) => {
          stream.write('', () => {
            resolve();
          });
        }),
    );
    await Promise.all(written);
  }
}
