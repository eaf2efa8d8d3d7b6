/**
 * One worker process as its supervisor sees it: spawned with its orders on stdin and its
 * reports on file descriptor 3. Every report and the process's end reach one listener.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { toErrorData, type ErrorData } from '../../shared/errors.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import type { FromWorker, ToWorker } from '../../shared/protocol/worker.ts';

export type WorkerEvent =
  | FromWorker
  /** The process is gone; `stderr` is the tail of what it printed. */
  | {
      readonly type: 'exit';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly stderr: string;
    }
  | { readonly type: 'broken'; readonly error: ErrorData };

const STDERR_TAIL = 4096;

const bundled = new URL('./worker.js', import.meta.url);
const entry = fileURLToPath(
  existsSync(bundled) ? bundled : new URL('../worker/main.ts', import.meta.url),
);

export class WorkerProcess {
  readonly rank: number;
  readonly #child: ChildProcess;
  #stderr = '';
  #exited = false;

  constructor(run: string, rank: number, listener: (event: WorkerEvent) => void) {
    this.rank = rank;
    const child = spawn(process.execPath, [entry, run, String(rank)], {
      argv0: 'gradwire worker',
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      env: process.env,
    });
    this.#child = child;
    const decoder = new FrameDecoder();
    const reports = child.stdio[3] as Readable;
    reports.on('data', (chunk: Buffer) => {
      try {
        for (const message of decoder.push(chunk)) listener(message as FromWorker);
      } catch (error) {
        listener({ type: 'broken', error: toErrorData(error) });
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    // Writing to a worker that has just died: its exit is reported below.
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => {
      this.#exited = true;
      listener({ type: 'broken', error: toErrorData(error) });
    });
    // `close` comes after the last report has been read, `exit` may come before it.
    child.on('close', (code, signal) => {
      this.#exited = true;
      listener({ type: 'exit', code, signal, stderr: this.#stderr });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get exited(): boolean {
    return this.#exited;
  }

  send(message: ToWorker): void {
    this.#child.stdin?.write(encodeFrame(message));
  }

  /** At once: a worker holds nothing that its supervisor has not. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
