/** `gradwire serve` as a real process: its URL with the token, and its end. */
import type { GradwireHome, RunningCommand, StartOptions } from './gradwire.ts';

export class Server implements AsyncDisposable {
  readonly url: string;
  readonly #command: RunningCommand;

  constructor(url: string, command: RunningCommand) {
    this.url = url;
    this.#command = command;
  }

  get pid(): number {
    return this.#command.child.pid!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#command.child.kill('SIGTERM');
    await this.#command.finished;
  }
}

export async function openServer(
  home: GradwireHome,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Server> {
  const command = home.start(['serve', '--no-open', ...args], options);
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    command.child.stdout!.on('data', (chunk: string) => {
      text += chunk;
      const found = /https?:\/\/\S+/.exec(text);
      if (found !== null && text.includes('\n')) resolve(found[0]);
    });
    command.child.on('close', () => {
      reject(new Error(`serve ended: ${command.stderr}`));
    });
  });
  return new Server(url, command);
}
