/** The real `gradwire` command, as built, as a process with a home of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { processesOf, until, type ProcessEntry } from './processes.ts';
import { ofType, type OfType } from './records.ts';

const packages = path.join(import.meta.dirname, '../../test-results/packages');

/** Lets a new home have what is sent to machines, packed once for all homes: to compress Node takes long. */
export function sharePackages(home: string): void {
  mkdirSync(packages, { recursive: true });
  symlinkSync(packages, path.join(home, 'packages'));
}

export const builtCommand = path.join(import.meta.dirname, '../../dist/cli/cli.js');

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What it has printed. @throws when it failed, with what it said of it */
export function succeeded<R extends Pick<Finished, 'code' | 'stdout' | 'stderr'>>(
  finished: R,
): R {
  if (finished.code === 0) return finished;
  const { code, stdout, stderr } = finished;
  throw new Error(
    `the command ended with ${String(code)}: ${stderr}\nits last output: ${stdout.slice(-1000)}`,
  );
}

/** A command that runs: its JSON lines as they come, and its end. */
export class RunningCommand {
  readonly child: ChildProcess;
  readonly records: RunRecord[] = [];
  readonly finished: Promise<Finished>;
  #stdout = '';
  #stderr = '';
  #line = '';
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcess, keepRecords: boolean) {
    this.child = child;
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      if (keepRecords) this.#parse(text);
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.finished = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
        for (const watcher of this.#watchers) watcher();
      });
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The first record of a type for which the condition holds, now or later. */
  async record<T extends RunRecord['type']>(
    type: T,
    matches: (record: OfType<T>) => boolean = () => true,
  ): Promise<OfType<T>> {
    for (;;) {
      const found = ofType(this.records, type).find(matches);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the command ended without the record: ${this.#stderr}`);
      }
      await new Promise<void>((resolve) => {
        const watcher = (): void => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
  }

  #parse(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop()!;
    for (const line of lines) this.records.push(JSON.parse(line) as RunRecord);
    for (const watcher of this.#watchers) watcher();
  }
}

export interface StartOptions {
  /** The built command of another checkout. */
  readonly command?: string;
  /** What a shell does before it becomes the command. */
  readonly shell?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export class GradwireHome implements AsyncDisposable {
  readonly directory: string;

  constructor() {
    this.directory = temporaryDirectory('gradwire-test-');
    sharePackages(this.directory);
  }

  /** Where this home's supervisor listens. */
  get socket(): string {
    return path.join(this.directory, 'supervisor.sock');
  }

  start(args: readonly string[], options: StartOptions = {}): RunningCommand {
    const env = {
      ...process.env,
      ...options.environment,
      GRADWIRE_HOME: this.directory,
      NO_COLOR: '1',
    };
    const argv = [process.execPath, options.command ?? builtCommand, ...args];
    const child =
      options.shell === undefined
        ? spawn(argv[0]!, argv.slice(1), { env })
        : spawn('bash', ['-c', `${options.shell}; exec "$@"`, 'bash', ...argv], {
            env,
          });
    const follows = args[0] === 'run' || args[0] === 'exec';
    return new RunningCommand(child, args.includes('--json') && follows);
  }

  /** The quickstart with other settings, its records as JSON. */
  startQuickstart(
    settings: readonly string[],
    options: StartOptions = {},
  ): RunningCommand {
    const set = settings.flatMap((setting) => ['--set', setting]);
    return this.start(['run', 'quickstart', '--json', ...set], options);
  }

  async run(args: readonly string[]): Promise<Finished> {
    return await this.start(args).finished;
  }

  /** Those of this home, of a title that contains the text. */
  processes(title = ''): readonly ProcessEntry[] {
    return processesOf(this.directory, title);
  }

  supervisors(): readonly ProcessEntry[] {
    return this.processes('gradwire supervisor');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    signal(this.supervisors(), 'SIGTERM');
    try {
      await until(
        () => this.processes(),
        (left) => left.length === 0,
        `the processes of ${this.directory} to end`,
      );
    } finally {
      signal(this.processes(), 'SIGKILL');
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function signal(processes: readonly ProcessEntry[], name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended by itself in between.
    }
  }
}
