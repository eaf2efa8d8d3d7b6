/**
 * An authenticated connection to one host, through its jump hosts: commands, streams, a
 * shell, SFTP and forwarded ports share it. It ends when it is closed or when any of its
 * hops is lost, and says why.
 */
import type { Duplex } from 'node:stream';
import type { ClientChannel, SFTPWrapper, TcpConnectionDetails } from 'ssh2';
import { failure, GradwireError, inputError } from '../../shared/errors.ts';
import type { HostKeyOptions } from './host-key-check.ts';
import { openHop, type Hop, type SshEnd } from './hop.ts';
import type { SshQuestions } from '../../shared/ssh-question.ts';
import { RememberedSecrets } from './remembered-secrets.ts';
import {
  finishCommand,
  type CommandOptions,
  type CommandResult,
} from './remote-command.ts';
import { RemoteShell, RemoteStream } from './remote-stream.ts';
import {
  aborted,
  connectionClosed,
  connectionLost,
  messageOf,
  printable,
  timedOut,
  unreachable,
} from './ssh-errors.ts';
import { checkTarget, hopsTo, placeOf, type SshTarget } from './target.ts';

export interface SshOpenOptions extends HostKeyOptions {
  readonly signal?: AbortSignal | undefined;
  /** False: nothing is asked, `questions` or not, as a connection in the background must. */
  readonly interactive?: boolean | undefined;
  /** Answers of earlier connections, for this one. */
  readonly secrets?: RememberedSecrets | undefined;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** The value of TERM. */
  readonly term?: string | undefined;
}

/** A port of the host that listens for us. */
export interface RemotePort {
  readonly port: number;
  close(): void;
}

interface Channel {
  end(): void;
}

type OpenChannel<C> = (done: (error: Error | undefined, channel: C) => void) => void;

const MOST_HOPS = 8;
const LOOPBACK = '127.0.0.1';

export class SshConnection implements AsyncDisposable {
  readonly target: SshTarget;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<SshEnd>;
  readonly #hops: readonly Hop[];
  /** By port of the host that listens for us. */
  readonly #accepting = new Map<number, (stream: RemoteStream) => void>();

  private constructor(target: SshTarget, hops: readonly Hop[]) {
    this.target = target;
    this.#hops = hops;
    this.closed = Promise.race(hops.map(({ gone }) => gone)).then((end) => {
      // A hop that is lost takes those behind it along: the first one is the cause.
      const error = hops.find(({ ended }) => ended?.error !== undefined)?.ended?.error;
      for (const hop of hops.toReversed()) hop.close();
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
    const route = hopsTo(target);
    if (route.length > MOST_HOPS) {
      throw inputError(
        'SSH_TARGET_INVALID',
        `${route.length} hosts on the way; ${MOST_HOPS} are the most`,
      );
    }
    route.forEach(checkTarget);
    const hops: Hop[] = [];
    const own = options.secrets === undefined ? new RememberedSecrets() : undefined;
    try {
      for (const [index, hop] of route.entries()) {
        const before = hops.at(-1);
        const way =
          before === undefined
            ? undefined
            : await openWay(before, route[index - 1]!, hop, options.signal);
        hops.push(
          await openHop(hop, {
            ...options,
            way,
            questions: options.interactive === false ? undefined : questions,
            secrets: options.secrets ?? own!,
            signal: options.signal,
          }),
        );
      }
      return new SshConnection(target, hops);
    } catch (error) {
      for (const hop of hops.toReversed()) hop.close();
      throw error;
    } finally {
      own?.clear();
    }
  }

  /** What the host says before it lets anybody in. */
  get banner(): string {
    return this.#last.banner;
  }

  /** Lines of known_hosts files that were skipped, and why. */
  get notices(): readonly string[] {
    return [...new Set(this.#hops.flatMap(({ notices }) => notices))];
  }

  get isOpen(): boolean {
    return this.#whyLost() === undefined;
  }

  /**
   * Runs a command line in the user's login shell, whichever that is. Put no values into
   * it: give them on stdin. One that is cancelled loses its stdin and stdout; a server that
   * delivers signals ends it, any other leaves one that neither reads nor writes.
   * @throws GradwireError `SSH_TIMEOUT`, `SSH_OUTPUT_TOO_LARGE`, `SSH_CONNECTION_LOST`,
   * `SSH_CHANNEL_REFUSED`, `ABORTED`. An exit code other than 0 is no error.
   */
  async run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    const stream = await this.stream(command);
    return await finishCommand(stream, command, this.target, options);
  }

  /**
   * A remote command's stdin and stdout; its stderr's tail and its exit beside them. As a
   * socket does, it emits `error` when the connection is lost.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  async stream(command: string): Promise<RemoteStream> {
    return await this.#ask('a command', this.#toStream, (done) => {
      this.#last.client.exec(command, done);
    });
  }

  /** A login shell at a terminal of that size. */
  async shell({
    columns,
    rows,
    term = 'xterm-256color',
  }: Terminal): Promise<RemoteShell> {
    const toShell = (channel: ClientChannel): RemoteShell =>
      new RemoteShell(channel, this.#whyLost);
    return await this.#ask('a shell', toShell, (done) => {
      this.#last.client.shell({ cols: columns, rows, term }, done);
    });
  }

  /** A connection from the host to one of its own, or of its network's, ports. */
  async forward(host: string, port: number): Promise<RemoteStream> {
    return await this.#ask(`a way to ${host}:${port}`, this.#toStream, (done) => {
      this.#last.client.forwardOut(LOOPBACK, 0, host, port, done);
    });
  }

  /**
   * A port of the host's loopback that the system chooses; whoever connects there is given
   * to `accept`.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  async listen(accept: (stream: RemoteStream) => void): Promise<RemotePort> {
    const { client } = this.#last;
    if (!client.listeners('tcp connection').includes(this.#connected)) {
      client.on('tcp connection', this.#connected);
    }
    const opened = await this.#ask(
      'a port to listen on',
      (port: RemotePort & Channel) => port,
      (done) => {
        client.forwardIn(LOOPBACK, 0, (error, port) => {
          const close = (): void => {
            this.#accepting.delete(port);
            // Of a connection that is lost nothing listens any more.
            if (this.isOpen) client.unforwardIn(LOOPBACK, port, () => undefined);
          };
          if (error === undefined) this.#accepting.set(port, accept);
          done(error, { port, close, end: close });
        });
      },
    );
    return { port: opened.port, close: opened.close };
  }

  /** Undefined where the host has no SFTP, or one that a noisy login shell breaks. */
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

  /** Opens a channel: the answer, or the connection's end, or the deadline. */
  async #ask<C extends Channel, T>(
    what: string,
    wrap: (channel: C) => T,
    start: OpenChannel<C>,
  ): Promise<T> {
    const lost = this.#whyLost();
    if (lost !== undefined) throw lost;
    return await channelOf(this.target, what, this.#whyLost, wrap, start);
  }
}

/** Why nothing can be had from a hop any more. */
function lossOf({ ended }: Hop, target: SshTarget): GradwireError | undefined {
  if (ended === undefined) return undefined;
  return ended.error ?? connectionClosed(target);
}

/** The stream on which the next hop is reached. */
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
      via,
      `a way to ${target.host}`,
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

/**
 * Opens a channel and wraps it in the very turn in which it is there: its data and its end
 * may have come in the same packet of the network, and their events wait for nobody.
 */
function channelOf<C extends Channel, T>(
  target: SshTarget,
  what: string,
  lost: () => GradwireError | undefined,
  wrap: (channel: C) => T,
  start: OpenChannel<C>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false;
    const fail = (error: GradwireError): void => {
      over = true;
      clearTimeout(deadline);
      reject(error);
    };
    const deadline = setTimeout(() => {
      fail(timedOut(target, `opening ${what}`, target.connectTimeoutMs));
    }, target.connectTimeoutMs);
    const done = (error: Error | undefined, channel: C): void => {
      if (error !== undefined) {
        // When a connection ends, ssh2 answers all that wait.
        fail(lost() ?? channelRefused(target, what, error));
      } else if (over) {
        channel.end(); // nobody waits for it any more
      } else {
        clearTimeout(deadline);
        resolve(wrap(channel));
      }
    };
    try {
      start(done);
    } catch (error) {
      fail(lost() ?? connectionLost(target, messageOf(error)));
    }
  });
}

function channelRefused(target: SshTarget, what: string, cause: Error): GradwireError {
  return failure(
    'SSH_CHANNEL_REFUSED',
    `the server does not open ${what}: ${printable(cause.message)}`,
    { place: placeOf(target), next: 'Its administrator may have disabled it.' },
  );
}
