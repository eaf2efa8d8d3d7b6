/**
 * ssh2's own server, for what OpenSSH's cannot be brought to without a special account:
 * keyboard-interactive in several rounds with several prompts.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';
import { sshTarget, type SshTarget } from '../../../src/main/ssh/target.ts';
import { makeKey } from '../../harness/ssh-keys.ts';

/** A round of keyboard-interactive. */
export interface Round {
  readonly title: string;
  readonly instruction: string;
  readonly prompts: { readonly prompt: string; readonly echo: boolean }[];
  /** What leads to the next round, and behind the last one in. */
  readonly answers: readonly string[];
}

export class ScriptedSshServer implements AsyncDisposable {
  readonly #directory: string;
  readonly #server: ssh2.Server;
  readonly #clients = new Set<ssh2.Connection>();

  private constructor(rounds: readonly Round[]) {
    this.#directory = mkdtempSync(path.join(tmpdir(), 'gradwire-scripted-'));
    const key = makeKey(path.join(this.#directory, 'host'));
    this.#server = new ssh2.Server({ hostKeys: [readFileSync(key)] }, (client) => {
      this.#clients.add(client);
      client.on('error', () => undefined);
      client.on('authentication', (context) => {
        if (context.method !== 'keyboard-interactive') {
          context.reject(['keyboard-interactive']);
          return;
        }
        const ask = (index: number): void => {
          const round = rounds[index];
          if (round === undefined) {
            context.accept();
            return;
          }
          const { prompts, title, instruction, answers } = round;
          context.prompt(prompts, title, instruction, (given) => {
            if (given.join() === answers.join()) ask(index + 1);
            else context.reject(['keyboard-interactive']);
          });
        };
        ask(0);
      });
    });
  }

  static async start(rounds: readonly Round[]): Promise<ScriptedSshServer> {
    const scripted = new ScriptedSshServer(rounds);
    await new Promise<void>((resolve) => {
      scripted.#server.listen(0, '127.0.0.1', resolve);
    });
    return scripted;
  }

  target(): SshTarget {
    const { port } = this.#server.address() as AddressInfo;
    const known = path.join(this.#directory, 'known_hosts');
    const [type, key] = readFileSync(
      path.join(this.#directory, 'host.pub'),
      'utf8',
    ).split(' ');
    writeFileSync(known, `[127.0.0.1]:${port} ${type} ${key}\n`);
    return sshTarget({
      host: '127.0.0.1',
      port,
      user: 'ada',
      identities: [],
      agent: undefined,
      userKnownHosts: [known],
      globalKnownHosts: [],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.end();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    rmSync(this.#directory, { recursive: true });
  }
}
