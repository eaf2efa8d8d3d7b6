/**
 * The link to one node's supervisor: one connection at a time, made when first needed. If
 * it is lost while something relies on it, it is made again, with growing pauses: for a run
 * without end, otherwise a few times. After that the node counts as unreachable until it
 * is reached again. A refused log-in is tried a few more times (`reconnection.ts`); then, or
 * when the host key is not accepted, it waits for the user.
 * A silent connection (`life-watch.ts`) stays.
 */
import type { AnswerTo, AskedType, OrderOf } from '../../shared/orders/orders.ts';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type {
  DeployProgress,
  NodeConnection,
  NodeLoss,
} from '../../shared/machines/node-status.ts';
import {
  isReading,
  type RequestMessage,
  type SupervisorMethod,
  type SupervisorRequests,
} from '../../shared/protocol/supervisor.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import type { PortForwarding } from './port-forwarding.ts';
import { LifeWatch } from './life-watch.ts';
import { connectToLaunch } from './launch-connection.ts';
import { connectionState } from './link-state.ts';
import type { LinkEvents } from './link-events.ts';
import type {
  ConnectOptions,
  NodeAccess,
  NodeAddresses,
  NodeSettings,
} from './node-access.ts';
import {
  afterFailure,
  asksAgain,
  isRefusal,
  lastingCode,
  pauseAfter,
} from './reconnection.ts';
import { RetryTimer } from './retry-timer.ts';
import { RoundTrip } from './round-trip.ts';
import type { ConnectionHandlers, ControlConnection } from './control-connection.ts';

export class NodeLink {
  readonly name: string;
  readonly #access: NodeAccess;
  #settings: NodeSettings;
  readonly #events: LinkEvents;
  #connection: ControlConnection | undefined;
  #connecting: Promise<ControlConnection> | undefined;
  readonly #retry = new RetryTimer(() => void this.#restore());
  /** Whether it waits for the user. */
  #refused = false;
  /** Refusals since it was last connected. */
  #refusals = 0;
  /** Whether the next attempt asks the user. */
  #asks = false;
  #loss: NodeLoss | undefined;
  readonly #roundTrip = new RoundTrip();
  #watch: LifeWatch | undefined;
  /** The error, already told, that only a change of the machine ends. */
  #lasting: string | undefined;
  /** When it was lost, by a clock that stands still while this computer sleeps. */
  #lostAt: number | undefined;
  #silence: NodeLoss | undefined;
  #closed = false;
  /** Ends attempts to connect that would delay the end of this process. */
  readonly #closing = new AbortController();

  constructor(access: NodeAccess, events: LinkEvents) {
    this.name = access.name;
    this.#access = access;
    this.#settings = access;
    this.#events = events;
  }

  get identity(): string {
    return this.#access.identity;
  }

  get ports(): PortRange | undefined {
    return this.#settings.ports;
  }

  get slurm(): SlurmSettings | undefined {
    return this.#settings.slurm;
  }

  /** The current settings of the same machine. */
  configure(settings: NodeSettings): void {
    this.#settings = settings;
  }

  /**
   * Connects in the background and then follows the runs that went on meanwhile. Called when this
   * link replaces another one, or when a first attempt to connect failed with `error`.
   */
  takeOver(error?: ErrorData): void {
    this.#refused = error !== undefined && isRefusal(error.code);
    // A supervisor that is slow to answer has not been lost.
    if (this.#connection === undefined) this.#loss ??= { since: Date.now(), error };
    if (error !== undefined) this.#lasting = lastingCode(error);
    this.#retry.later(pauseAfter(error));
    this.#events.changed();
    if (this.#refused) this.#events.gaveUp(error!);
  }

  /** The user has reached the machine, or asks for another attempt. */
  resume(): void {
    if (!this.#refused && this.#lasting === undefined) return;
    this.#refused = false;
    this.#refusals = 0;
    this.#retry.reset();
    this.takeOver();
  }

  /** The node has been reached in another way: it is not lost. */
  reached(): void {
    if (this.#loss === undefined || this.#retry.isPending) return;
    this.#loss = undefined;
    this.#events.changed();
  }

  /** Measures the round trip of a live connection. */
  async measureRoundTrip(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    const isCurrent = (): boolean => connection === this.#connection;
    if (await this.#roundTrip.measure(connection, isCurrent)) this.#events.changed();
  }

  readonly forwardPorts = (): Promise<PortForwarding> => this.#access.forwardPorts();

  /** Shows a copy of a program's directory. @returns tells how far it is; undefined at its end */
  showCopy(cancel: () => void): (progress: DeployProgress | undefined) => void {
    return (progress) => this.#access.copying?.(progress, cancel);
  }

  get addresses(): NodeAddresses {
    return this.#access.addresses();
  }

  get connection(): ControlConnection | undefined {
    return this.#connection;
  }

  get state(): NodeConnection {
    return connectionState({
      connection: this.#connection,
      loss: this.#loss,
      isRefused: this.#refused,
      attempt: this.#retry.isPending
        ? { number: this.#retry.attempts, last: this.#events.attempts() }
        : undefined,
      silence: this.#silence,
      roundTripMs: this.#roundTrip.milliseconds,
    });
  }

  /**
   * The other login nodes with the same home that have files of these runs, by run. Of other
   * machines such files are left from a former name, or another entry's.
   */
  async elsewhere(runs: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (runs.length === 0 || this.slurm === undefined) return new Map();
    return (await this.#access.elsewhere?.(runs)) ?? new Map();
  }

  /** Ends the connection; the next use makes another, perhaps to another host of that name. */
  async leave(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#watch?.close();
    await connection?.close();
  }

  /** The connection, made if necessary; concurrent callers share one attempt. */
  connect(options?: ConnectOptions): Promise<ControlConnection> {
    if (this.#connection !== undefined) return Promise.resolve(this.#connection);
    this.#connecting ??= this.#adopt(
      this.#access.ensure(this.#handlers(), this.#untilClosed(options)),
    ).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Connects as `connect` does, but starts no supervisor. */
  async find(options?: ConnectOptions): Promise<ControlConnection | undefined> {
    if (this.#connection !== undefined) return this.#connection;
    if (this.#connecting !== undefined) return this.#connecting;
    const found = await this.#access.find(this.#handlers(), this.#untilClosed(options));
    return found === undefined ? undefined : this.#adopt(Promise.resolve(found));
  }

  async request<M extends SupervisorMethod>(
    method: M,
    body: RequestMessage<M>['body'],
    deadlineMs?: number,
  ): Promise<SupervisorRequests[M]['reply']> {
    const connection = isReading(method)
      ? await this.connect()
      : await this.connectToLaunch();
    return connection.request(method, body, deadlineMs);
  }

  /**
   * Asks the supervisor to give an order to a run.
   * @throws GradwireError the supervisor's own error, and what `request` throws
   */
  order<T extends AskedType>(
    run: string,
    { type, ...keys }: OrderOf<T>,
    deadlineMs?: number,
  ): Promise<AnswerTo<T>> {
    const body = { run, ...keys } as unknown as RequestMessage<T>['body'];
    return this.request(type as T, body, deadlineMs) as Promise<AnswerTo<T>>;
  }

  /**
   * A connection to a supervisor of this version, which may replace one of another.
   * @throws GradwireError as `connect` does, and `SUPERVISOR_OTHER_VERSION`
   */
  async connectToLaunch(): Promise<ControlConnection> {
    return await connectToLaunch({
      connect: () => this.connect(),
      restored: () => this.#events.restored(),
      leave: () => this.leave(),
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry.close();
    this.#watch?.close();
    this.#closing.abort();
    // #adopt closes a connection that is still being made.
    await this.#connecting?.catch((error: unknown) => {
      if (!(error instanceof GradwireError)) throw error;
    });
    await this.#connection?.close();
    this.#connection = undefined;
  }

  #untilClosed(options: ConnectOptions = {}): ConnectOptions {
    const signals = [this.#closing.signal, options.signal ?? []].flat();
    return { ...options, signal: AbortSignal.any(signals) };
  }

  #handlers(): ConnectionHandlers {
    return {
      pushed: () => this.#watch?.arrived(),
      run: (run) => {
        this.#events.run(run);
      },
      lost: () => {
        this.#connection = undefined;
        this.#watch?.close();
        this.#silence = undefined;
        if (this.#closed) return;
        if (this.#events.attempts() > 0) {
          this.#loss = { since: Date.now() };
          this.#lostAt = performance.now();
          this.#retry.later();
        }
        this.#events.changed();
      },
    };
  }

  async #adopt(opening: Promise<ControlConnection>): Promise<ControlConnection> {
    const connection = await opening;
    if (this.#closed) {
      await connection.close();
      throw failure('SUPERVISOR_LOST', 'closed while connecting');
    }
    if (this.#connection !== undefined) {
      // find and connect ran at the same time: the first connection stays, unless it is
      // lost while the second one is closed.
      await connection.close();
      if (this.#connection !== undefined) return this.#connection;
      throw failure('SUPERVISOR_LOST', 'the connection was lost at once');
    }
    this.#connection = connection;
    // Follow the runs again that went on while it was refused.
    this.resume();
    this.#lasting = undefined;
    this.#refusals = 0;
    this.#asks = false;
    this.#loss = undefined;
    this.#lostAt = undefined;
    this.#roundTrip.reset();
    this.#silence = undefined;
    this.#watch?.close();
    this.#watch = this.#watchLife(connection);
    this.#events.changed();
    return connection;
  }

  #watchLife(connection: ControlConnection): LifeWatch {
    return new LifeWatch(connection, this.name, {
      ask: () => void this.measureRoundTrip(),
      silent: (error) => {
        const data = error?.toData();
        this.#silence = data && { since: Date.now(), error: data };
        this.#events.silent(data);
        this.#events.changed();
      },
      patienceMs: () => this.#events.patience().silentMs,
      gaveUp: (error) => {
        this.#events.gaveUp(error.toData());
      },
    });
  }

  async #restore(): Promise<void> {
    if (this.#refused) {
      this.#events.look();
      this.#tryAgain();
      return;
    }
    const [asked, loss, lostAt] = [this.#asks, this.#loss, this.#lostAt];
    const lasting = this.#lasting;
    this.#asks = false;
    this.#lasting = undefined;
    try {
      await this.connect({ interactive: asked });
      this.#retry.done();
      await this.#events.restored();
      this.#retry.reset();
      this.#lostAt = undefined;
    } catch (error) {
      if (this.#closed) return;
      if (!(error instanceof GradwireError)) throw error;
      const data = error.toData();
      // Another host has answered, and was left: what is followed is still lost.
      if (this.#connection === undefined) this.#loss ??= loss;
      this.#lostAt ??= lostAt;
      this.#lasting ??= lasting;
      if (this.#loss !== undefined) this.#loss = { ...this.#loss, error: data };
      this.#considerNext(data, asked);
    }
  }

  #considerNext(error: ErrorData, asked: boolean): void {
    if (isRefusal(error.code)) this.#refusals++;
    const { mayAsk, lostMs: patienceMs } = this.#events.patience();
    const step = afterFailure({
      code: error.code,
      isKnown: error.code === this.#lasting,
      refusals: this.#refusals,
      asked,
      mayAsk,
      lostMs: performance.now() - (this.#lostAt ??= performance.now()),
      patienceMs,
    });
    this.#refused = step.kind === 'refused';
    this.#asks = step.kind === 'ask';
    switch (step.kind) {
      case 'retry':
        if (step.isTold !== true) this.#events.trouble(error);
        this.#tryAgain(step.pauseMs);
        return;
      case 'ask':
        this.#events.trouble(asksAgain(error));
        this.#tryAgain();
        return;
      case 'refused':
        this.#events.gaveUp(error);
        this.#tryAgain();
        return;
      case 'unreachable':
        this.#rest();
        this.#events.gaveUp(error);
        return;
      default:
        step satisfies never;
    }
  }

  #tryAgain(pauseMs?: number): void {
    // Called even for a failure just reported: the machine may have a new route by now.
    if (this.#closed) return;
    // Retry even while connected: the supervisor may only have been slow.
    if (this.#retry.attempts < this.#events.attempts()) {
      this.#retry.later(pauseMs);
      this.#events.changed();
    } else this.#rest();
  }

  /** No further attempt by itself. */
  #rest(): void {
    this.#retry.done();
    this.#retry.reset();
    this.#refused = false;
    this.#events.changed();
  }
}
