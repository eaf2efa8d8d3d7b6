/**
 * A bench for losses of machines in the middle of a followed run: machines with an sshd each in
 * network namespaces of their own, what may happen to the first of them that is not the leading
 * one (or to the only one), and how it may refuse to let a command in again.
 */
import { copyFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { RunDetail } from '../../../../src/shared/rpc/run-summary.ts';
import { CommandTerminal } from '../../../harness/command-terminal.ts';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../../harness/gradwire.ts';
import { LASTING, LASTING_ALONE } from '../../../harness/lasting-runs.ts';
import { RankNamespaces } from '../../../harness/namespaces.ts';
import { processesWith, until } from '../../../harness/processes.ts';
import { makeKey } from '../../../harness/ssh-keys.ts';
import { SshServer } from '../../../harness/sshd.ts';

export const LOSSES = [
  'sshd killed',
  'connection reset',
  'network partition',
  'supervisor killed',
  'supervisor suspended',
  'machine rebooted',
] as const;
export type Loss = (typeof LOSSES)[number];

export const REFUSALS = [
  'none',
  'password asked',
  'key refused for a moment',
  'key refused for good',
  'host key changed',
  'too many log-ins',
] as const;
export type Refusal = (typeof REFUSALS)[number];

export const PASSWORD = 'correct horse';

const KEYS_ONLY = ['PasswordAuthentication no', 'KbdInteractiveAuthentication no'];

/** A followed run: at a pipe or at a terminal. */
export interface Followed {
  /** What it has said about the link since it began. */
  readonly said: () => string;
  /** How far it has got. */
  readonly progress: () => number;
  readonly interrupt: () => void;
  readonly answer: (password: string) => Promise<void>;
  readonly ended: Promise<number | null>;
  readonly isOver: () => boolean;
  /** Whatever it does. */
  readonly kill: () => void;
}

export class LossBench implements AsyncDisposable {
  readonly home = new GradwireHome();
  readonly servers: SshServer[] = [];
  readonly names: readonly string[];
  readonly #namespaces: RankNamespaces;
  readonly #lost: number;
  /** Of all servers, read when one starts. */
  readonly #config: string[] = [];
  #stranger = '';
  readonly #held: net.Socket[] = [];

  private constructor(machines: number, lost: number) {
    this.#lost = lost;
    this.#namespaces = new RankNamespaces({ ranks: machines });
    this.names = Array.from({ length: machines }, (_, index) => `m${index}`);
  }

  /** @param lost the machine that is lost; default: the last, which does not lead if it can */
  static async open(machines: number, lost = machines - 1): Promise<LossBench> {
    const bench = new LossBench(machines, lost);
    const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
    for (const [index, name] of bench.names.entries()) {
      const place = {
        host: bench.#namespaces.hosts[index]!,
        prefix: bench.#namespaces.prefix(index),
      };
      const server = await SshServer.start({
        password: PASSWORD,
        shellStart,
        place,
        config: bench.#config,
      });
      bench.servers.push(server);
      for (const end of ['', '.pub']) {
        const file = path.join(server.directory, `host_ed25519${end}`);
        copyFileSync(file, `${file}.kept`);
      }
      const host = ['--host', server.host, '--port', String(server.port)];
      succeeded(
        await bench.home.run([
          ...['nodes', 'add', name, ...host, '--identity', server.key],
        ]),
      );
      const accept = ['--accept-host-key', server.fingerprint()];
      succeeded(await bench.home.run(['nodes', 'deploy', name, ...accept]));
    }
    bench.#stranger = makeKey(path.join(bench.server.directory, 'stranger'));
    return bench;
  }

  /** The machine that is lost. */
  get server(): SshServer {
    return this.servers[this.#lost]!;
  }

  /** Everything as it was before anything was lost or refused. */
  async restore(refusal: Refusal): Promise<void> {
    this.release();
    this.letIn();
    for (const end of ['', '.pub']) {
      const file = path.join(this.server.directory, `host_ed25519${end}`);
      copyFileSync(`${file}.kept`, file);
    }
    const lines = [
      ...(refusal === 'password asked' ? [] : KEYS_ONLY),
      ...(refusal === 'too many log-ins' ? ['MaxStartups 1'] : []),
    ];
    this.#config.splice(0, Infinity, ...lines);
    this.#namespaces.mend(this.#lost);
    await this.server.restart();
  }

  async follow(atTerminal: boolean): Promise<Followed> {
    const ranks = this.names.length;
    const settings = [
      ...[`world.nodes=[${this.names.join(', ')}]`, `world.ranks=${ranks}`],
      ...[...(ranks === 1 ? LASTING_ALONE : LASTING), 'evaluateEvery=0'],
    ];
    return atTerminal ? this.#atTerminal(settings) : this.#atPipe(settings);
  }

  async #atPipe(settings: readonly string[]): Promise<Followed> {
    const command: RunningCommand = this.home.startQuickstart(settings);
    await command.record('iteration');
    let isOver = false;
    void command.finished.then(() => {
      isOver = true;
    });
    return {
      said: () => command.stderr,
      progress: () => command.records.length,
      interrupt: () => {
        command.child.kill('SIGINT');
      },
      answer: () => Promise.reject(new Error('nobody is there to be asked')),
      ended: command.finished.then(({ code }) => code),
      isOver: () => isOver,
      kill: () => {
        command.child.kill('SIGKILL');
      },
    };
  }

  async #atTerminal(settings: readonly string[]): Promise<Followed> {
    const set = settings.flatMap((setting) => ['--set', setting]);
    const terminal = CommandTerminal.open(this.home, ['run', 'quickstart', ...set]);
    await terminal.sees(/\d+\/1000000 /);
    const progress = (): number =>
      Number([...terminal.shown.matchAll(/(\d+)\/1000000 /g)].at(-1)?.[1] ?? 0);
    return {
      said: () => terminal.shown,
      progress,
      interrupt: () => {
        terminal.type('\u0003');
      },
      answer: (password) => terminal.answer(`${password}\r`),
      ended: terminal.ended,
      isOver: () => terminal.isOver,
      kill: () => {
        terminal.kill();
      },
    };
  }

  async lose(loss: Loss, refusal: Refusal, followed: Followed): Promise<void> {
    const noticed = (): Promise<unknown> =>
      until(
        () =>
          followed.isOver() ||
          /cannot be reached|does not answer/.test(followed.said()),
        (seen) => seen,
        'the loss to be noticed',
      );
    const { server } = this;
    switch (loss) {
      case 'sshd killed':
        await server.stop();
        await noticed();
        await this.#refuse(refusal);
        await server.start();
        this.#crowd(refusal);
        return;
      case 'connection reset':
        await this.#refuse(refusal);
        this.#crowd(refusal);
        // Only a server that starts reads its key.
        if (refusal === 'host key changed') await server.restart();
        else await server.cutSessions();
        return;
      case 'network partition':
        this.#namespaces.cut(this.#lost);
        await noticed();
        await this.#refuse(refusal);
        if (refusal === 'host key changed') await server.restart();
        this.#namespaces.mend(this.#lost);
        this.#crowd(refusal);
        return;
      case 'supervisor killed':
        await this.#refuse(refusal);
        this.#signal('SIGKILL');
        return;
      case 'supervisor suspended':
        await this.#refuse(refusal);
        this.#signal('SIGSTOP');
        await noticed();
        this.#signal('SIGCONT');
        return;
      case 'machine rebooted':
        await server.stop();
        for (const { pid } of this.#processes('gradwire')) kill(pid, 'SIGKILL');
        await noticed();
        await this.#refuse(refusal);
        await server.start();
        this.#crowd(refusal);
        return;
      default:
        loss satisfies never;
    }
  }

  /** The machine lets the user in again. */
  letIn(): void {
    this.server.authorizeOnly(this.server.key);
  }

  /** As many log-ins as it wants, again. */
  release(): void {
    for (const socket of this.#held.splice(0)) socket.destroy();
  }

  async newest(): Promise<RunDetail> {
    const { stdout } = await this.home.run(['runs', 'show', 'last', '--json']);
    return JSON.parse(stdout) as RunDetail;
  }

  /** What is left of a run anywhere, once it should be gone. */
  left(): readonly string[] {
    const there = this.servers.flatMap(({ home }) =>
      processesWith(`HOME=${home}`, 'gradwire'),
    );
    return [...there, ...this.home.processes()].map(({ title }) => title);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    for (const server of this.servers) {
      for (const { pid } of processesWith(`HOME=${server.home}`, 'gradwire')) {
        kill(pid, 'SIGKILL');
      }
    }
    await this.home[Symbol.asyncDispose]();
    for (const server of this.servers) await server[Symbol.asyncDispose]();
    this.#namespaces[Symbol.dispose]();
  }

  async #refuse(refusal: Refusal): Promise<void> {
    switch (refusal) {
      case 'none':
      case 'too many log-ins':
        return;
      case 'password asked':
      case 'key refused for a moment':
      case 'key refused for good':
        this.server.authorizeOnly(this.#stranger);
        return;
      case 'host key changed':
        this.server.makeHostKey('ed25519');
        return;
      default:
        refusal satisfies never;
    }
  }

  /** A log-in that somebody else has begun and does not finish is as many as it takes. */
  #crowd(refusal: Refusal): void {
    if (refusal !== 'too many log-ins') return;
    const { host, port } = this.server;
    const socket = net.connect({ host, port });
    socket.on('error', () => undefined);
    this.#held.push(socket);
  }

  #signal(name: NodeJS.Signals): void {
    for (const { pid } of this.#processes('gradwire supervisor')) kill(pid, name);
  }

  #processes(title: string): ReturnType<typeof processesWith> {
    return processesWith(`HOME=${this.server.home}`, title);
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in between.
  }
}
