/**
 * The link to one node's supervisor: one connection at a time, made when first needed. If
 * it is lost while something relies on it, it is made again, with growing pauses: for a run
 * without end, otherwise a few times. After that the node counts as unreachable until it
 * is reached again. A refused log-in is tried a few more times (`reconnection.ts`); then, or
 * when the host key is not accepted, it waits for the user.
 *
 * A connection on which nothing arrives is asked for a sign of life. If none comes, the node
 * is reported as silent until it answers again; the connection stays.
 */
import type { AnswerTo, AskedType, OrderOf } from '../../shared/orders/orders.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { NodeConnection, NodeLoss } from '../../shared/machines/node-status.ts';
import {
  isReading,
  type PushMessage,
  type RequestMessage,
  type SupervisorMethod,
  type SupervisorRequests,
} from '../../shared/protocol/supervisor.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import type { PortForwarding } from './port-forwarding.ts';
import { LifeWatch } from './life-watch.ts';
import { afterFailure, isRefusal } from './reconnection.ts';
import {
  otherVersion,
  type ConnectionHandlers,
  type ControlConnection,
} from './control-connection.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;
/** Some ten seconds of pauses: a laptop that wakes has its network back by then. */
export const IDLE_ATTEMPTS = 8;
/** Smaller changes of the round trip are not worth a push. */
const SAME_ROUND_TRIP = 0.1;
/** An idle supervisor ends a tenth of a second after its last client has left. */
const GIVE_WAY_MS = 10_000;
const GIVE_WAY_PAUSE_MS = 200;

/** Addresses of the two ends of the connection to a node. */
export interface NodeAddresses {
  /** The node's own address, on which its ranks listen. */
  readonly there: string;
  /** Whether the user gave it; default: it is the one by which SSH reaches the node. */
  readonly chosen?: boolean | undefined;
  /** The local computer's address as the node sees it; default: the node is this computer. */
  readonly here?: string | undefined;
}

export interface ConnectOptions {
  /** Whether the user may be asked for secrets: only for actions that the user started. */
  readonly interactive?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Settings that may change without a new connection: they apply when ranks are next
 * started.
 */
export interface NodeSettings {
  /** Ports that its ranks may listen on; default: any, or those that the run names. */
  readonly ports?: PortRange | undefined;
  /** Set if its ranks run on nodes that Slurm allocates; default: on itself. */
  readonly slurm?: SlurmSettings | undefined;
}

/** The way to the supervisor of a node. */
export interface NodeAccess extends NodeSettings {
  readonly name: string;
  /** Changes when the same name comes to mean another machine, or another route. */
  readonly identity: string;
  /**
   * The address where ranks on other machines find its ranks; known once it is
   * connected.
   */
  readonly addresses: () => NodeAddresses;
  /**
   * Forwards ports of the node, for ranks elsewhere that cannot reach it.
   * @throws GradwireError if it cannot be reached
   */
  readonly forwardPorts: () => Promise<PortForwarding>;
  /** Connects to a running supervisor; undefined if there is none. */
  find(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection | undefined>;
  /** Connects, and starts a supervisor if none runs. */
  ensure(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection>;
}

/** Limits of what a link does about a loss without an action of the user. */
export interface LinkPatience {
  /** Whether the user is there to be asked for what a log-in needs. */
  readonly mayAsk: boolean;
  /** Most time during which a lost machine is tried again; Infinity: for ever. */
  readonly lostMs: number;
  /** Most time without a sign of life from a connected machine; Infinity: for ever. */
  readonly silentMs: number;
}

/** The patience of the app: it stays open, and the user looks at it now and then. */
export const ENDLESS: LinkPatience = {
  mayAsk: false,
  lostMs: Infinity,
  silentMs: Infinity,
};

export interface LinkEvents {
  push(message: PushMessage): void;
  /** Called after a lost connection has been restored. */
  restored(): Promise<void>;
  /**
   * Returns the most attempts of the app's own to restore a lost connection; Infinity: no
   * limit.
   */
  attempts(): number;
  /** Whether something is followed over it, so that its replacement connects at once. */
  followed(): boolean;
  /** Returns the limits of what is done about the loss of this link. */
  patience(): LinkPatience;
  /** An attempt to restore the connection failed; more follow. */
  trouble(error: ErrorData): void;
  /**
   * Called when the machine is not tried any more: it has refused, or is out of reach or
   * silent for too long. A later connection, whoever makes it, is reported as `restored`.
   */
  gaveUp(error: ErrorData): void;
  /**
   * A connected node gives no sign of life, for example because its supervisor is stopped;
   * without an error: it does again.
   */
  silent(error: ErrorData | undefined): void;
  /** Called now and then while it waits for the user, who may have changed the machine. */
  look(): void;
  /** Called when `state` changes. */
  changed(): void;
}

export class NodeLink {
  readonly name: string;
  readonly #access: NodeAccess;
  #settings: NodeSettings;
  readonly #events: LinkEvents;
  #connection: ControlConnection | undefined;
  #connecting: Promise<ControlConnection> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryPause = FIRST_RETRY_MS;
  /** Whether it waits for the user. */
  #refused = false;
  /** Refusals since it was last connected. */
  #refusals = 0;
  /** Whether the next attempt asks the user. */
  #asks = false;
  #attempt = 0;
  #loss: NodeLoss | undefined;
  #roundTripMs: number | undefined;
  #isMeasuring = false;
  #watch: LifeWatch | undefined;
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
   * Connects, retrying until it succeeds, and follows what continued: it replaces another
   * link, or could not be connected when a run was to be followed, because of this error.
   */
  takeOver(error?: ErrorData): void {
    this.#refused = error !== undefined && isRefusal(error.code);
    // A supervisor that is slow to answer has not been lost.
    if (this.#connection === undefined) this.#loss ??= { since: Date.now(), error };
    this.#retryLater();
    this.#events.changed();
    if (this.#refused) this.#events.gaveUp(error!);
  }

  /** The user has reached the machine, or asks for another attempt. */
  resume(): void {
    if (!this.#refused) return;
    this.#refused = false;
    this.#refusals = 0;
    this.#retryPause = FIRST_RETRY_MS;
    this.#attempt = 0;
    this.takeOver();
  }

  /** The node has been reached in another way: it is not lost. */
  reached(): void {
    if (this.#loss === undefined || this.#retry !== undefined) return;
    this.#loss = undefined;
    this.#events.changed();
  }

  /** Measures the round trip of a live connection. */
  async measureRoundTrip(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || connection.readsOnly || this.#isMeasuring) return;
    const began = performance.now();
    this.#isMeasuring = true;
    try {
      await connection.request('ping', {});
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      // An older supervisor's refusal took as long; a lost connection says so itself.
      if (error.code !== 'REQUEST_UNKNOWN') return;
    } finally {
      this.#isMeasuring = false;
    }
    const taken = performance.now() - began;
    const before = this.#roundTripMs;
    if (connection !== this.#connection) return;
    this.#roundTripMs = taken;
    if (before === undefined || Math.abs(taken - before) > before * SAME_ROUND_TRIP) {
      this.#events.changed();
    }
  }

  readonly forwardPorts = (): Promise<PortForwarding> => this.#access.forwardPorts();

  get addresses(): NodeAddresses {
    return this.#access.addresses();
  }

  /** The current connection, if any. */
  get connection(): ControlConnection | undefined {
    return this.#connection;
  }

  get state(): NodeConnection {
    const connection = this.#connection;
    const loss = this.#loss;
    if (connection === undefined && this.#refused)
      return { connection: 'refused', loss };
    if (connection === undefined && this.#retry !== undefined) {
      const last = this.#events.attempts();
      const number = this.#attempt;
      const attempt = Number.isFinite(last) ? { number, last } : { number };
      return { connection: 'reconnecting', loss, attempt };
    }
    if (connection === undefined) {
      return loss === undefined
        ? { connection: 'idle' }
        : { connection: 'unreachable', loss };
    }
    const { version } = connection.hello;
    const otherVersion = connection.readsOnly ? version : undefined;
    const silence = this.#silence;
    const roundTripMs = silence === undefined ? this.#roundTripMs : undefined;
    return { connection: 'connected', otherVersion, roundTripMs, silence };
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
   * A connection to a supervisor of this version. A supervisor of another version without
   * runs and other clients ends when we disconnect, and one of ours replaces it.
   * @throws GradwireError `SUPERVISOR_OTHER_VERSION`
   */
  async connectToLaunch(): Promise<ControlConnection> {
    const end = performance.now() + GIVE_WAY_MS;
    for (let first = true; ; first = false) {
      const connection = await this.connect();
      if (!connection.readsOnly) {
        // Reads what the previous supervisor left in journals.
        if (!first) await this.#events.restored();
        return connection;
      }
      const { runs } = await connection.request('runs', {});
      const live = runs.find(({ phase }) => phase !== 'ended');
      if (live !== undefined || performance.now() > end) {
        throw otherVersion(connection.hello, live?.run);
      }
      await connection.close();
      this.#watch?.close();
      if (this.#connection === connection) this.#connection = undefined;
      await sleep(GIVE_WAY_PAUSE_MS);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
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
    const { signal } = this.#closing;
    const both =
      options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]);
    return { ...options, signal: both };
  }

  #handlers(): ConnectionHandlers {
    return {
      push: (message) => {
        this.#watch?.arrived();
        this.#events.push(message);
      },
      lost: () => {
        this.#connection = undefined;
        this.#watch?.close();
        this.#silence = undefined;
        if (this.#closed) return;
        if (this.#events.attempts() > 0) {
          this.#loss = { since: Date.now() };
          this.#lostAt = performance.now();
          this.#retryLater();
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
    this.#refusals = 0;
    this.#asks = false;
    this.#loss = undefined;
    this.#lostAt = undefined;
    this.#roundTripMs = undefined;
    this.#silence = undefined;
    this.#watch?.close();
    this.#watch = this.#watchLife(connection);
    this.#events.changed();
    return connection;
  }

  #watchLife(connection: ControlConnection): LifeWatch {
    return new LifeWatch(connection, this.name, {
      ask: () => void this.#askForLife(connection),
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

  /** Any answer will do, even a late one. */
  async #askForLife(connection: ControlConnection): Promise<void> {
    if (!connection.readsOnly) return this.measureRoundTrip();
    try {
      await connection.request('runs', {});
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
    }
  }

  /** @param pauseMs default: longer than the one before */
  #retryLater(pauseMs?: number): void {
    clearTimeout(this.#retry);
    this.#attempt++;
    // Pauses are randomised, because many apps may lose the same machine at the same
    // moment.
    const pause = (pauseMs ?? this.#retryPause) * (0.5 + Math.random() / 2);
    this.#retry = setTimeout(() => {
      void this.#restore();
    }, pause);
    if (pauseMs !== undefined) return;
    this.#retryPause = Math.min(this.#retryPause * 2, LONGEST_RETRY_MS);
  }

  async #restore(): Promise<void> {
    if (this.#refused) {
      this.#events.look();
      this.#tryAgain();
      return;
    }
    const asked = this.#asks;
    this.#asks = false;
    try {
      await this.connect({ interactive: asked });
      this.#retry = undefined;
      await this.#events.restored();
      this.#retryPause = FIRST_RETRY_MS;
      this.#attempt = 0;
      this.#lostAt = undefined;
    } catch (error) {
      if (this.#closed) return;
      if (!(error instanceof GradwireError)) throw error;
      const data = toErrorData(error);
      if (this.#loss !== undefined) this.#loss = { ...this.#loss, error: data };
      this.#considerNext(data, asked);
    }
  }

  #considerNext(error: ErrorData, asked: boolean): void {
    if (isRefusal(error.code)) this.#refusals++;
    const { mayAsk, lostMs: patienceMs } = this.#events.patience();
    const step = afterFailure({
      code: error.code,
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
        this.#events.trouble(error);
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
    if (this.#attempt < this.#events.attempts()) {
      this.#retryLater(pauseMs);
      this.#events.changed();
    } else this.#rest();
  }

  /** No further attempt by itself. */
  #rest(): void {
    this.#retry = undefined;
    this.#retryPause = FIRST_RETRY_MS;
    this.#attempt = 0;
    this.#refused = false;
    this.#events.changed();
  }
}

/** Rewords the loss for a terminal, right before the prompt. */
const asksAgain = (error: ErrorData): ErrorData => ({
  ...error,
  message: 'the connection was lost, and the machine asks for a log-in again',
  next: 'Answer the prompt to follow the run again.',
});
