/**
 * One rank process as the command sees it: an order on its stdin, its report on file
 * descriptor 3, one at a time.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { failure, toErrorData, type ErrorData } from '../../shared/errors.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

const BUNDLE = 'allreduce-rank.js';
/** In order: beside this bundle, beside its chunks, another bundle's, from source. */
const ENTRIES = [
  BUNDLE,
  `../${BUNDLE}`,
  `../agent/${BUNDLE}`,
  `../../agent/${BUNDLE}`,
  'rank-main.ts',
];
const STDERR_TAIL = 2048;

export type RankEnd =
  | { readonly kind: 'report'; readonly error: ErrorData }
  | { readonly kind: 'death'; readonly error: ErrorData };

export class RankProcess {
  readonly rank: number;
  /** When the process is gone and all that it said has been read. */
  readonly closed: Promise<void>;
  readonly #child: ChildProcess;
  readonly #failed: (end: RankEnd) => void;
  #reported: ((report: FromRank) => void) | undefined;
  #stderr = '';
  #finished = false;

  /** @param failed told when the rank fails or dies before it has written its result */
  constructor(rank: number, failed: (end: RankEnd) => void) {
    this.rank = rank;
    this.#failed = failed;
    const child = spawn(process.execPath, [entryFile(), String(rank)], {
      argv0: 'gradwire worker',
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const decoder = new FrameDecoder();
    (child.stdio[3] as Readable).on('data', (chunk: Buffer) => {
      try {
        for (const report of decoder.push(chunk)) this.#take(report as FromRank);
      } catch (error) {
        failed({ kind: 'death', error: toErrorData(error) });
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    // An order for a rank that has just died: its end is reported below.
    child.stdin?.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      child.on('error', (error) => {
        failed({ kind: 'death', error: toErrorData(error) });
        resolve();
      });
      child.on('close', (code, signal) => {
        if (!this.#finished)
          failed({ kind: 'death', error: this.#death(code, signal) });
        resolve();
      });
    });
  }

  /** The report that answers the order; never, where the rank fails first. */
  async order<Report extends FromRank>(order: ToRank): Promise<Report> {
    const { promise, resolve } = Promise.withResolvers<FromRank>();
    this.#reported = resolve;
    this.#child.stdin?.write(encodeFrame(order));
    return (await promise) as Report;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #take(report: FromRank): void {
    if (report.type === 'failed') {
      this.#finished = true;
      this.#failed({ kind: 'report', error: { rank: this.rank, ...report.error } });
      return;
    }
    if (report.type === 'written' || report.type === 'probed') this.#finished = true;
    this.#reported?.(report);
  }

  #death(code: number | null, signal: NodeJS.Signals | null): ErrorData {
    const how =
      signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
    const said = this.#stderr.trim().split('\n').at(-1) ?? '';
    return failure('WORKER_DIED', `rank ${this.rank} ${how}`, {
      rank: this.rank,
      next: said === '' ? 'Look for the reason in the system log.' : `It said: ${said}`,
    }).toData();
  }
}

function entryFile(): string {
  const file = ENTRIES.map((entry) => path.join(import.meta.dirname, entry)).find(
    existsSync,
  );
  if (file !== undefined) return file;
  throw failure('AGENT_MISSING', `there is no ${BUNDLE} near ${import.meta.dirname}`, {
    next: 'Build it with: npm run build',
  });
}
