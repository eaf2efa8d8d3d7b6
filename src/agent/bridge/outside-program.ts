/**
 * A program that something else has started, such as torchrun: all that a rank has of it is the
 * connection, with which it ends. Who started it ends it, so it gets no signals: without the
 * connection its next call of gradwire raises an error. A guard removes the socket's directory
 * should the rank end without doing so.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { ProgramExit, ProgramRun } from './program-run.ts';

/** The guard reads from a pipe of which the rank has the other end, so reading ends with the rank. */
const GUARD = 'trap "" TERM INT HUP USR1 USR2; cat >/dev/null; rm -rf -- "$1"';

export class OutsideProgram implements ProgramRun {
  readonly #exit = Promise.withResolvers<ProgramExit>();

  /** @param bridge the path of the rank's socket, in a directory of its own */
  constructor(bridge: string) {
    const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', path.dirname(bridge)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.on('error', (error) => {
      this.#exit.reject(error);
    });
    guard.stdin.on('error', () => undefined);
    // Neither keeps a rank that has ended otherwise.
    guard.unref();
  }

  get exit(): Promise<ProgramExit> {
    return this.#exit.promise;
  }

  begin(): void {
    // It begins when it finds the socket.
  }

  /** Ends waiting for it; who started it ends it. */
  signal(): void {
    this.unlinked();
  }

  unlinked(): void {
    this.#exit.resolve({ code: 0, signal: null, stderr: '' });
  }
}
