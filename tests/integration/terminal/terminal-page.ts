/** A page's side of terminals, over a real WebSocket, and an app with a machine to open them on. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { startHttpHost, type HttpHost } from '../../../src/main/serve/http-host.ts';
import type { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import type { TerminalEnd } from '../../../src/shared/rpc/terminal.ts';
import { until } from '../../harness/processes.ts';
import type { SshServer } from '../../harness/sshd.ts';
import { connectTo } from '../serve/socket-connection.ts';

/**
 * An app behind HTTP that knows the server as the machine `box`. Shells of this computer
 * start without a profile: its owner's may do anything.
 */
export class TerminalApp implements AsyncDisposable {
  readonly #directory: string;
  readonly core: AppCore;
  readonly host: HttpHost;

  private constructor(directory: string, core: AppCore, host: HttpHost) {
    this.#directory = directory;
    this.core = core;
    this.host = host;
  }

  static async open(machine: SshServer): Promise<TerminalApp> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-terminal-'));
    vi.stubEnv('HOME', directory);
    const configFile = path.join(directory, 'ssh_config');
    await writeFile(
      configFile,
      [
        'Host box',
        'HostName 127.0.0.1',
        `Port ${machine.port}`,
        `IdentityFile ${machine.key}`,
        'IdentityAgent none',
        `UserKnownHostsFile ${machine.knownHosts}`,
        '',
      ].join('\n'),
    );
    const home = resolveHome({ GRADWIRE_HOME: path.join(directory, 'home') });
    const core = await createAppCore({ home, host: 'browser' });
    const host = await startHttpHost({ core, renderer: directory, port: 0 });
    const app = new TerminalApp(directory, core, host);
    await core.api.addNode({ name: 'box', destination: 'box', configFile });
    return app;
  }

  async page(): Promise<TerminalPage> {
    return new TerminalPage(await connectTo(this.host.url));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await this.core.close();
    vi.unstubAllEnvs();
    await rm(this.#directory, { recursive: true });
  }
}

export class TerminalPage implements Disposable {
  readonly connection: HostConnection;
  readonly ends = new Map<number, TerminalEnd>();
  /** Characters that have come and have not been answered, and the most there ever were. */
  unanswered = 0;
  mostUnanswered = 0;
  /** What an answer waits for. */
  taking: () => Promise<void> = () => Promise.resolve();
  readonly #output = new Map<number, string[]>();

  constructor(connection: HostConnection) {
    this.connection = connection;
    connection.on('terminalOutput', async (id, text) => {
      const pieces = this.#output.get(id) ?? [];
      this.#output.set(id, pieces);
      pieces.push(text);
      this.unanswered += text.length;
      this.mostUnanswered = Math.max(this.mostUnanswered, this.unanswered);
      await this.taking();
      this.unanswered -= text.length;
    });
    connection.on('terminalEnded', (id, end) => {
      this.ends.set(id, end);
    });
  }

  output(id: number): string {
    const text = (this.#output.get(id) ?? []).join('');
    this.#output.set(id, [text]);
    return text;
  }

  /** Waits for the text, and forgets what has come up to its end. @returns that */
  async seen(id: number, text: string): Promise<string> {
    const all = await until(
      () => this.output(id),
      (output) => output.includes(text),
      `${JSON.stringify(text)} in the terminal`,
    );
    const end = all.indexOf(text) + text.length;
    this.#output.set(id, [all.slice(end)]);
    return all.slice(0, end);
  }

  async ended(id: number): Promise<TerminalEnd> {
    const end = await until(
      () => this.ends.get(id),
      (told) => told !== undefined,
      'the end of the shell to be told',
    );
    return end!;
  }

  /** A shell that neither prompts nor echoes: what comes is what commands print. */
  async openQuiet(id: number, node: string): Promise<void> {
    const { api } = this.connection;
    await api.openTerminal(id, node, { columns: 80, rows: 24 });
    await this.type(id, 'exec /bin/sh\n');
    await this.type(id, "PS1=; stty -echo; echo qu''iet\n");
    await this.seen(id, 'quiet\r\n');
  }

  async type(id: number, text: string): Promise<void> {
    await this.connection.api.writeTerminal(id, text);
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}
