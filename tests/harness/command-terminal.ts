/** A `gradwire` command at a real terminal: a pty, whose keys and text are a user's. */
import { spawn, type IPty } from '@lydell/node-pty';
import { builtCommand, type GradwireHome } from './gradwire.ts';
import { until } from './processes.ts';

export class CommandTerminal {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  readonly #pty: IPty;
  #shown = '';
  #isOver = false;

  private constructor(pty: IPty) {
    this.#pty = pty;
    pty.onData((data) => {
      this.#shown += data;
    });
    this.ended = new Promise((resolve) => {
      pty.onExit(({ exitCode }) => {
        this.#isOver = true;
        resolve(exitCode);
      });
    });
  }

  static open(home: GradwireHome, args: readonly string[]): CommandTerminal {
    const env = { ...process.env, GRADWIRE_HOME: home.directory, NO_COLOR: '1' };
    return new CommandTerminal(
      spawn(process.execPath, [builtCommand, ...args], { cols: 200, env }),
    );
  }

  /** What it has shown since the last answer. */
  get shown(): string {
    return this.#shown;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  sees(wanted: RegExp): Promise<string> {
    return until(
      () => this.#shown,
      (text) => wanted.test(text),
      String(wanted),
    );
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Answers a prompt for a password, and forgets what was shown before. */
  async answer(keys: string): Promise<void> {
    await this.sees(/password[^\n]*: ?$/i);
    this.#shown = '';
    this.type(keys);
  }

  kill(): void {
    if (!this.#isOver) this.#pty.kill('SIGKILL');
  }
}
