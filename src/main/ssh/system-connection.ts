/**
 * A connection that the system's `ssh` makes, for features that ssh2 lacks: Kerberos,
 * certificates, security keys, ProxyCommand, and anything else in ~/.ssh/config. One `ssh`
 * connects and authenticates; its control socket carries all channels.
 */
import { saysClosed } from './closed-connection.ts';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { channelOf, OpenShells, type OpenChannel } from './channel-opening.ts';
import type { SshEnd } from './hop.ts';
import type { MuxChannel } from './mux/mux-channel.ts';
import { MuxProxy } from './mux/mux-proxy.ts';
import {
  finishCommand,
  type CommandOptions,
  type CommandResult,
} from './remote-command.ts';
import type {
  RemoteConnection,
  RemotePort,
  SshOpenOptions,
  Terminal,
} from './remote-connection.ts';
import { RemoteShell, RemoteStream } from './remote-stream.ts';
import { listenThere } from './reverse-port.ts';
import { connectionClosed, messageOf } from './ssh-errors.ts';
import { explainLoss, type SystemWords } from './system-failure.ts';
import { startMaster, type Master } from './system-master.ts';
import type { SystemProcess } from './system-process.ts';
import type { SshTarget } from './target.ts';

/**
 * Wait between the end of the control socket and the end of its process, which has the
 * reason.
 */
const LAST_WORDS_MS = 2000;

export class SystemSshConnection implements RemoteConnection {
  readonly transport = 'system';
  readonly target: SshTarget;
  readonly banner: string;
  readonly notices: readonly string[];
  readonly closed: Promise<SshEnd>;
  readonly #process: SystemProcess;
  readonly #words: () => SystemWords;
  readonly #remove: () => void;
  readonly #shells = new OpenShells();
  #proxy: MuxProxy | undefined;
  #ended: SshEnd | undefined;
  #tellClosed: (end: SshEnd) => void = () => undefined;

  private constructor(target: SshTarget, { process, words, remove }: Master) {
    this.target = target;
    this.#process = process;
    this.#words = words;
    this.#remove = remove;
    this.banner = process.stderr;
    this.notices = words().missing.map(
      (file) => `the key ${file} was not offered: no such file`,
    );
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
    void process.ended.then(() => this.#lose());
  }

  /**
   * Makes `ssh` connect through all hops. Without `asker` nothing is asked.
   * @throws GradwireError as `startMaster` does
   */
  static async open(
    target: SshTarget,
    asker?: SshQuestions,
    options: SshOpenOptions = {},
  ): Promise<SystemSshConnection> {
    return await startMaster(target, asker, options, async (master) => {
      const connection = new SystemSshConnection(target, master);
      await connection.#attach(master.socket);
      return connection;
    });
  }

  get shells(): number {
    return this.#shells.count;
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  async run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    const stream = await this.stream(command);
    return await finishCommand(stream, command, this.target, options);
  }

  async stream(command: string): Promise<RemoteStream> {
    return await this.#ask('a command', this.#toStream, (proxy, done) => {
      proxy.exec(command, done);
    });
  }

  async shell({
    columns,
    rows,
    term = 'xterm-256color',
  }: Terminal): Promise<RemoteShell> {
    const toShell = (channel: MuxChannel): RemoteShell =>
      new RemoteShell(channel, this.#whyLost);
    return await this.#shells.counted((others) =>
      this.#ask(
        'a shell',
        toShell,
        (proxy, done) => {
          proxy.shell({ columns, rows, term }, done);
        },
        others,
      ),
    );
  }

  async forward(host: string, port: number): Promise<RemoteStream> {
    const what = `a channel to ${hostAndPort(host, port)}`;
    return await this.#ask(what, this.#toStream, (proxy, done) => {
      proxy.forward(host, port, done);
    });
  }

  async listen(accept: (stream: RemoteStream) => void): Promise<RemotePort> {
    const route = {
      target: this.target,
      proxy: this.#proxy!,
      toStream: this.#toStream,
      forward: (host: string, port: number) => this.forward(host, port),
    };
    return await listenThere(route, accept);
  }

  async close(): Promise<void> {
    this.#end({ error: undefined });
    await this.#process.stop();
    this.#remove();
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #attach(socket: string): Promise<void> {
    try {
      this.#proxy = await MuxProxy.connect(socket, (cause) => {
        void this.#lose(cause);
      });
    } catch (cause) {
      throw failure(
        'SSH_SYSTEM_UNSUPPORTED',
        `ssh does not share its connection: ${messageOf(cause)}`,
        {
          place: this.target.system?.name,
          next: 'Install OpenSSH 7.4 or newer on this computer.',
        },
      );
    }
  }

  /** The control socket or the process has ended: the other one gives the reason. */
  async #lose(cause?: Error): Promise<void> {
    if (this.#ended !== undefined) return;
    let patience: NodeJS.Timeout | undefined;
    await Promise.race([
      this.#process.ended,
      new Promise((resolve) => {
        patience = setTimeout(resolve, LAST_WORDS_MS);
      }),
    ]);
    clearTimeout(patience);
    const words = this.#words();
    const stderr =
      cause === undefined || saysClosed(cause)
        ? words.stderr
        : `${words.stderr}\n${cause.message}`;
    this.#end({ error: explainLoss(this.target, { ...words, stderr }) });
    await this.#process.stop();
    this.#remove();
  }

  #end(end: SshEnd): void {
    if (this.#ended !== undefined) return;
    this.#ended = end;
    this.#proxy?.close();
    this.#proxy?.abandon();
    this.#tellClosed(end);
  }

  readonly #toStream = (channel: MuxChannel): RemoteStream =>
    new RemoteStream(channel, this.#whyLost);

  readonly #whyLost = (): GradwireError | undefined =>
    this.#ended === undefined
      ? undefined
      : (this.#ended.error ?? connectionClosed(this.target));

  async #ask<T>(
    what: string,
    wrap: (channel: MuxChannel) => T,
    start: (proxy: MuxProxy, ...done: Parameters<OpenChannel<MuxChannel>>) => void,
    shells = this.shells,
  ): Promise<T> {
    const lost = this.#whyLost();
    if (lost !== undefined) throw lost;
    return await channelOf<MuxChannel, T>(
      { target: this.target, what, shells },
      this.#whyLost,
      wrap,
      (done) => {
        start(this.#proxy!, done);
      },
    );
  }
}
