/**
 * A figure that is being reproduced: `gradwire reproduce` in a process of its own, which launches its
 * runs like those of any user. Its lines tell how far it is.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { failure, type ErrorData } from '../../shared/errors/errors.ts';
import type { FigureBegin } from '../../shared/rpc/figure-status.ts';
import { errorDataSchema } from '../../shared/records/fields.ts';
import { commandBundle } from '../home/installation.ts';
import { nodeBinary } from '../home/node-binary.ts';

const STDERR_TAIL = 2000;

export class FigureProcess {
  readonly figure: string;
  /** Resolves when the process has ended; with what it failed by, if it did. */
  readonly ended: Promise<ErrorData | undefined>;
  readonly #child: ChildProcess;
  #runs = 0;
  #error: ErrorData | undefined;
  #isStopped = false;

  /** @param directory where its result is written */
  constructor(
    figure: string,
    { begin, directory, home }: { begin: FigureBegin; directory: string; home: string },
  ) {
    this.figure = figure;
    const command = ['reproduce', figure, '--json', '--out', directory];
    if (begin === 'resume') command.push('--resume');
    const child = spawn(nodeBinary(), [commandBundle(), ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GRADWIRE_HOME: home },
    });
    this.#child = child;
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#take(line);
    });
    this.ended = new Promise((resolve) => {
      child.once('error', ({ message }) => {
        resolve(failed(message));
      });
      child.once('close', (code) => {
        if (code === 0 || this.#isStopped) resolve(undefined);
        else resolve(this.#error ?? failed(stderr.trim().split('\n').at(-1) ?? ''));
      });
    });
  }

  /** Number of its runs that have ended. */
  get runs(): number {
    return this.#runs;
  }

  /** Stops its runs in progress and starts no others, as Ctrl-C does. */
  stop(): void {
    this.#isStopped = true;
    this.#child.kill('SIGINT');
  }

  #take(line: string): void {
    const { error, type } = parsed(line);
    if (type === 'run') this.#runs++;
    if (type === 'failed') this.#error = errorDataSchema.safeParse(error).data;
  }
}

interface Line {
  readonly error?: unknown;
  readonly type?: unknown;
}

/** A line of the command; one that is no JSON, as of a program that it starts, tells nothing. */
function parsed(line: string): Line {
  try {
    return (JSON.parse(line) as Line | null) ?? {};
  } catch {
    return {};
  }
}

const failed = (why: string): ErrorData =>
  failure(
    'FIGURE_FAILED',
    `the figure was not reproduced: ${why || 'it ended early'}`,
    {
      next: 'Run its command in a terminal to see all that it says.',
    },
  ).toData();
