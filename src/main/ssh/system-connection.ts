/**
 * A connection that the system's `ssh` makes, for features that ssh2 lacks: Kerberos,
 * certificates, security keys, ProxyCommand, and anything else in ~/.ssh/config. One `ssh`
 * connects and authenticates; its control socket carries all channels.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { saysClosed } from './closed-connection.ts';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { Askpass } from './askpass.ts';
import { channelOf, OpenShells, type OpenChannel } from './channel-opening.ts';
import { PausableDeadline } from './deadline.ts';
import type { SshEnd } from './hop.ts';
import { missingKeys } from './key-file.ts';
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
import { RememberedSecrets } from './remembered-secrets.ts';
import { RemoteShell, RemoteStream } from './remote-stream.ts';
import { aborted, connectionClosed, messageOf, unreachable } from './ssh-errors.ts';
import { masterArguments } from './system-arguments.ts';
import { explainFailure, explainLoss, type SystemWords } from './system-failure.ts';
import { SystemProcess } from './system-process.ts';
import { SystemQuestions } from './system-questions.ts';
import { checkTarget, hopsTo, placeOf, type SshTarget } from './target.ts';

/**
 * Interval of checks for the master's socket, which appears once it has authenticated.
 */
const LOOK_MS = 20;
/**
 * `sockaddr_un.sun_path`, minus the suffix that OpenSSH appends while it creates the
 * socket.
 */
const LONGEST_SOCKET_PATH = 103 - 18;
const LOOPBACK = '127.0.0.1';
/** The dynamic ports (RFC 6335), among which a free one is soon found. */
const DYNAMIC_PORTS = [49_152, 65_536] as const;
const PORTS_TRIED = 8;
/**
 * Most time for a connection to the port to arrive here; after that another program has the
 * port.
 */
const RETURN_MS = 5000;
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

  private constructor(
    target: SshTarget,
    process: SystemProcess,
    words: () => SystemWords,
    remove: () => void,
  ) {
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
   * Makes `ssh` connect through all hops. Without `questions` nothing is asked.
   * @throws GradwireError `SSH_TARGET_INVALID`, `SSH_CLIENT_MISSING`,
   * `SSH_SYSTEM_UNSUPPORTED`, `SSH_UNREACHABLE`, `HOST_KEY_…`, `SSH_AUTH_…`,
   * `SSH_CONFIG_INVALID`, `ABORTED`
   */
  static async open(
    target: SshTarget,
    asker?: SshQuestions,
    options: SshOpenOptions = {},
  ): Promise<SystemSshConnection> {
    const { signal } = options;
    if (process.platform === 'win32') throw unsupported(target);
    hopsTo(target).forEach(checkTarget);
    if (signal?.aborted === true) throw aborted(target, 'connecting');
    const directory = privateDirectory(options.directory);
    const remove = (): void => {
      rmSync(directory, { recursive: true, force: true });
    };
    const over = new AbortController();
    let running: SystemProcess | undefined;
    try {
      return await new Promise<SystemSshConnection>((resolve, reject) => {
        const deadlineMs = hopsTo(target).reduce(
          (sum, { connectTimeoutMs }) => sum + connectTimeoutMs,
          0,
        );
        const deadline = new PausableDeadline(deadlineMs, () => {
          reject(unreachable(target, `ssh did not connect within ${deadlineMs} ms`));
        });
        signal?.addEventListener(
          'abort',
          () => {
            reject(aborted(target, 'connecting'));
          },
          { signal: over.signal },
        );
        const connect = async (): Promise<SystemSshConnection> => {
          const questions = new SystemQuestions(target, {
            questions: options.interactive === false ? undefined : asker,
            confirmedHostKeys: options.confirmedHostKeys ?? [],
            secrets: options.secrets ?? new RememberedSecrets(),
            deadline,
            signal: over.signal,
            giveUp: reject,
          });
          await using askpass = await Askpass.listen(directory, questions.answer);
          const log = path.join(directory, 'log');
          const socket = path.join(directory, 's');
          if (over.signal.aborted) throw aborted(target, 'connecting');
          const master = masterArguments(target, {
            socket,
            log,
            passwords: questions.passwords,
            acceptedHostKeys:
              options.acceptedHostKeys ?? path.join(directory, 'known_hosts'),
          });
          const ssh = new SystemProcess(['ssh', ...master], directory, {
            ...process.env,
            SSH_ASKPASS: askpass.program,
            SSH_ASKPASS_REQUIRE: 'force',
            // OpenSSH before 8.4 asks nothing without a display.
            DISPLAY: process.env['DISPLAY'] ?? ':0',
          });
          running = ssh;
          const words = (): SystemWords => ({
            log: existsSync(log) ? readFileSync(log, 'utf8') : '',
            stderr: ssh.stderr,
            interactive: questions.interactive,
            locked: questions.locked,
            missing: missingKeys(
              hopsTo(target).flatMap(({ identities }) => identities),
            ),
          });
          while (!existsSync(socket) && !over.signal.aborted) {
            if (ssh.hasEnded) {
              throw questions.refused ?? explainFailure(target, words());
            }
            await new Promise((resume) => setTimeout(resume, LOOK_MS));
          }
          if (over.signal.aborted) throw aborted(target, 'connecting');
          const connection = new SystemSshConnection(target, ssh, words, remove);
          await connection.#attach(socket);
          questions.succeeded();
          return connection;
        };
        connect()
          .then(resolve, reject)
          .finally(() => {
            deadline.clear();
          });
      });
    } catch (error) {
      over.abort(error);
      await running?.stop();
      remove();
      throw error;
    } finally {
      over.abort(new Error('the attempt is over'));
    }
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

  /** `ssh` reports neither the host's port nor whether it listens, so we check. */
  async listen(accept: (stream: RemoteStream) => void): Promise<RemotePort> {
    let why = 'connections to it are not forwarded';
    for (let tried = 0; tried < PORTS_TRIED; tried++) {
      const port = randomInt(...DYNAMIC_PORTS);
      const proxy = this.#proxy!;
      try {
        if (await this.#comesBack(port)) {
          proxy.accept(port, (channel) => {
            accept(this.#toStream(channel));
          });
          return {
            port,
            close: () => {
              proxy.refuse(port);
            },
          };
        }
      } catch (error) {
        if (!(error instanceof GradwireError) || error.code !== 'SSH_CHANNEL_REFUSED') {
          throw error;
        }
        why = error.message;
      }
      proxy.refuse(port);
    }
    throw failure(
      'SSH_CHANNEL_REFUSED',
      `the host does not forward a port to this computer: ${why}`,
      {
        place: placeOf(this.target),
        next: 'Its server may forbid it (AllowTcpForwarding, DisableForwarding in sshd_config).',
      },
    );
  }

  /** Whether a connection to the requested port of the host arrives here. */
  async #comesBack(port: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<MuxChannel | undefined>();
    this.#proxy!.listen(port, resolve);
    const stream = await this.forward(LOOPBACK, port);
    // The connection may be lost meanwhile, and another program may hang up.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      resolve(undefined);
    });
    stream.resume();
    const patience = setTimeout(resolve, RETURN_MS, undefined);
    const channel = await promise;
    clearTimeout(patience);
    stream.destroy();
    channel?.close();
    return channel !== undefined;
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

/** A private directory whose path leaves room for a socket's name. */
function privateDirectory(preferred: string | undefined): string {
  const places = [preferred, os.tmpdir(), '/tmp'].filter(
    (place) => place !== undefined,
  );
  const fit = places.find(
    (place) =>
      Buffer.byteLength(path.join(place, 'gradwire-ssh-XXXXXX', 's')) <=
      LONGEST_SOCKET_PATH,
  );
  const parent = fit ?? '/tmp';
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(path.join(parent, 'gradwire-ssh-'));
}

function unsupported({ system }: SshTarget): GradwireError {
  return failure(
    'SSH_SYSTEM_UNSUPPORTED',
    'OpenSSH for Windows cannot share a connection, which Gradwire needs with the system’s ssh',
    {
      place: system?.name,
      next: 'Use the built-in client: gradwire nodes edit NAME --transport builtin.',
    },
  );
}
