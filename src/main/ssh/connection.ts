/**
 * A connection by ssh2, with SFTP in addition to the common interface. It ends when it
 * is closed or any of its hops is lost, and gives the reason.
 */
import type { Duplex } from 'node:stream';
import type { ClientChannel, SFTPWrapper, TcpConnectionDetails } from 'ssh2';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { GradwireError } from '../../shared/errors/errors.ts';
import { channelOf, OpenShells, type OpenChannel } from './channel-opening.ts';
import { openHop, type Hop, type SshEnd } from './hop.ts';
import type {
  RemoteConnection,
  RemotePort,
  SshOpenOptions,
  Terminal,
} from './remote-connection.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { RememberedSecrets } from './remembered-secrets.ts';
import {
  finishCommand,
  type CommandOptions,
  type CommandResult,
} from './remote-command.ts';
import { RemoteShell, RemoteStream } from './remote-stream.ts';
import { aborted, connectionClosed, messageOf, unreachable } from './ssh-errors.ts';
import { placeOf, routeTo, type SshTarget } from './target.ts';

const LOOPBACK = '127.0.0.1';

export class SshConnection implements RemoteConnection {
  readonly transport = 'builtin';
  readonly target: SshTarget;
  readonly closed: Promise<SshEnd>;
  readonly #hops: readonly Hop[];
  /** Receivers of forwarded connections, by the host's port that listens for us. */
  readonly #accepting = new Map<number, (stream: RemoteStream) => void>();
  readonly #shells = new OpenShells();

  /** @param borrowed the first hops, which belong to another connection */
  private constructor(
    target: SshTarget,
    borrowed: readonly Hop[],
    own: readonly Hop[],
  ) {
    const hops = [...borrowed, ...own];
    this.target = target;
    this.#hops = hops;
    this.closed = Promise.race(hops.map(({ gone }) => gone)).then((end) => {
      // A lost hop ends those behind it, so the first one is the cause.
      const error = hops.find(({ ended }) => ended?.error !== undefined)?.ended?.error;
      for (const hop of own.toReversed()) hop.close();
      return { error: error ?? end.error };
    });
  }

  /**
   * Connects through all hops. Without `questions` nothing is asked.
   * @throws GradwireError `SSH_TARGET_INVALID`, `SSH_UNREACHABLE`, `HOST_KEY_…`,
   * `SSH_AUTH_…`, `SSH_KEY_…`, `ABORTED`
   */
  static async open(
    target: SshTarget,
    questions?: SshQuestions,
    options: SshOpenOptions = {},
  ): Promise<SshConnection> {
    const route = routeTo(target);
    const { through } = options;
    const borrowed = through instanceof SshConnection ? through.#hops : [];
    const opened: Hop[] = [];
    const own = options.secrets === undefined ? new RememberedSecrets() : undefined;
    try {
      for (const [index, hop] of route.entries()) {
        if (index < borrowed.length) continue;
        const before = opened.at(-1) ?? borrowed.at(-1);
        const way =
          before === undefined
            ? undefined
            : await openWay(before, route[index - 1]!, hop, options.signal);
        opened.push(
          await openHop(hop, {
            ...options,
            way,
            questions: options.interactive === false ? undefined : questions,
            secrets: options.secrets ?? own!,
            jump: options.jump === true || index < route.length - 1,
            signal: options.signal,
          }),
        );
      }
      return new SshConnection(target, borrowed, opened);
    } catch (error) {
      for (const hop of opened.toReversed()) hop.close();
      throw error;
    } finally {
      own?.clear();
    }
  }

  get banner(): string {
    return this.#last.banner;
  }

  /** Lines of known_hosts files that were skipped, and why. */
  get notices(): readonly string[] {
    return [...new Set(this.#hops.flatMap(({ notices }) => notices))];
  }

  get shells(): number {
    return this.#shells.count;
  }

  get isOpen(): boolean {
    return this.#whyLost() === undefined;
  }

  async run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    const stream = await this.stream(command);
    return await finishCommand(stream, command, this.target, options);
  }

  async stream(command: string): Promise<RemoteStream> {
    return await this.#ask('a command', this.#toStream, (done) => {
      this.#last.client.exec(command, done);
    });
  }

  async shell({
    columns,
    rows,
    term = 'xterm-256color',
  }: Terminal): Promise<RemoteShell> {
    const toShell = (channel: ClientChannel): RemoteShell =>
      new RemoteShell(channel, this.#whyLost);
    return await this.#shells.counted((others) =>
      this.#ask(
        'a shell',
        toShell,
        (done) => {
          this.#last.client.shell({ cols: columns, rows, term }, done);
        },
        others,
      ),
    );
  }

  async forward(host: string, port: number): Promise<RemoteStream> {
    return await this.#ask(
      `a channel to ${hostAndPort(host, port)}`,
      this.#toStream,
      (done) => {
        this.#last.client.forwardOut(LOOPBACK, 0, host, port, done);
      },
    );
  }

  async listen(accept: (stream: RemoteStream) => void): Promise<RemotePort> {
    const { client } = this.#last;
    if (!client.listeners('tcp connection').includes(this.#connected)) {
      client.on('tcp connection', this.#connected);
    }
    const opened = await this.#ask(
      'a port to listen on',
      (port: RemotePort & { end(): void }) => port,
      (done) => {
        client.forwardIn(LOOPBACK, 0, (error, port) => {
          const close = (): void => {
            this.#accepting.delete(port);
            try {
              client.unforwardIn(LOOPBACK, port, () => undefined);
            } catch {
              // After a loss nothing listens any more.
            }
          };
          if (error === undefined) this.#accepting.set(port, accept);
          done(error, { port, close, end: close });
        });
      },
    );
    return { port: opened.port, close: opened.close };
  }

  /** Opens SFTP; undefined if the host has none, or if output of a login shell breaks it. */
  async sftp(): Promise<SFTPWrapper | undefined> {
    try {
      const asItIs = (sftp: SFTPWrapper): SFTPWrapper => sftp;
      return await this.#ask('SFTP', asItIs, (done) => {
        this.#last.client.sftp(done);
      });
    } catch (error) {
      if (error instanceof GradwireError && error.code === 'SSH_CHANNEL_REFUSED') {
        return undefined;
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#last.close();
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #last(): Hop {
    return this.#hops.at(-1)!;
  }

  readonly #connected = (
    { destPort }: TcpConnectionDetails,
    take: () => ClientChannel,
    refuse: () => void,
  ): void => {
    const accept = this.#accepting.get(destPort);
    if (accept === undefined) refuse();
    else accept(this.#toStream(take()));
  };

  readonly #toStream = (channel: ClientChannel): RemoteStream =>
    new RemoteStream(channel, this.#whyLost);

  readonly #whyLost = (): GradwireError | undefined => {
    for (const hop of this.#hops) {
      const lost = lossOf(hop, this.target);
      if (lost !== undefined) return lost;
    }
    return undefined;
  };

  /** Opens a channel, until the answer, the connection's end or the deadline. */
  async #ask<C extends { end(): unknown }, T>(
    what: string,
    wrap: (channel: C) => T,
    start: OpenChannel<C>,
    shells = this.shells,
  ): Promise<T> {
    const lost = this.#whyLost();
    if (lost !== undefined) throw lost;
    const request = { target: this.target, what, shells };
    return await channelOf(request, this.#whyLost, wrap, start);
  }
}

/** Returns the reason why a hop can no longer be used; undefined while it can. */
function lossOf({ ended }: Hop, target: SshTarget): GradwireError | undefined {
  if (ended === undefined) return undefined;
  return ended.error ?? connectionClosed(target);
}

/** The stream to the next hop. */
async function openWay(
  from: Hop,
  via: SshTarget,
  target: SshTarget,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  if (signal?.aborted === true) throw aborted(target, 'connecting');
  try {
    const lost = (): GradwireError | undefined => lossOf(from, via);
    return await channelOf(
      { target: via, what: `a channel to ${target.host}` },
      lost,
      (channel: ClientChannel) => new RemoteStream(channel, lost),
      (done) => {
        from.client.forwardOut(LOOPBACK, 0, target.host, target.port, done);
      },
    );
  } catch (error) {
    if (error instanceof GradwireError && error.code !== 'SSH_CHANNEL_REFUSED')
      throw error;
    throw unreachable(
      target,
      `${placeOf(via)} cannot reach it: ${messageOf(error)}`,
      'Check the name and port as the jump host knows them, and that it allows forwarding.',
    );
  }
}
