/**
 * Many `gradwire` commands, as built, in one process: to start one takes longer than most
 * commands do. For what a command says of its input and writes; whoever uses it has a test
 * of the same command as a process of its own (`GradwireHome.run`).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { CommandAnswer, CommandOrder } from './command-process.ts';
import { builtCommand, type GradwireHome } from './gradwire.ts';

export interface CommandHostOptions {
  /** The command's entry; the built one unless told. */
  readonly command?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export class CommandHost implements AsyncDisposable {
  readonly #home: string;
  readonly #command: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(
    home: GradwireHome,
    { command = builtCommand, environment = {} }: CommandHostOptions = {},
  ) {
    this.#home = home.directory;
    this.#command = command;
    this.#environment = environment;
  }

  /** In the order of the calls, each after the one before it has ended. */
  run(args: readonly string[]): Promise<CommandAnswer> {
    const answer = this.#previous.then(() => this.#ask(args));
    this.#previous = answer.catch(() => undefined);
    return answer;
  }

  async #ask(args: readonly string[]): Promise<CommandAnswer> {
    const child = (this.#child ??= fork(
      path.join(import.meta.dirname, 'command-process.ts'),
      { env: { ...process.env, NO_COLOR: '1', ...this.#environment }, execArgv: [] },
    ));
    const order: CommandOrder = { command: this.#command, home: this.#home, args };
    child.send(order);
    const ended = new AbortController();
    const { signal } = ended;
    try {
      return await Promise.race([
        once(child, 'message', { signal }).then(([answer]) => answer as CommandAnswer),
        once(child, 'exit', { signal }).then(([code]): never => {
          throw new Error(`the process of the commands ended with ${code}: ${args}`);
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#previous;
    if (this.#child?.connected !== true) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill();
    await gone;
  }
}
