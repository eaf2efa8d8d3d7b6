/**
 * The page's connection to its host: the typed calls of AppApi, main's pushes as events,
 * and the state of the line. A lost line is reopened automatically, first at once, then
 * with growing pauses of at most RETRY_LONGEST_MS; watched runs are watched again, and
 * `resync` says that pushes may have been missed.
 *
 * Delivery: a call is made at most once. One that was unanswered when the line broke
 * rejects with `CONNECTION_LOST`; it may or may not have taken effect.
 */
import { GrowingPause } from '../../../shared/async/growing-pause.ts';
import { createBirpc, type BirpcReturn } from 'birpc';
import type { z } from 'zod';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import { plainIssue } from '../../../shared/checks/plain-issue.ts';
import type { HostBridge } from '../../../shared/rpc/host-bridge.ts';
import { rpcResults } from '../../../shared/rpc/rpc-results.ts';
import {
  encodeRpcMessage,
  onDecodedMessage,
  type RpcChannel,
  type SessionEvents,
} from '../../../shared/rpc/rpc-wire.ts';
import { rpcArguments } from '../../../shared/rpc/rpc-arguments.ts';
import type { AppApi, HostCommand } from '../../../shared/rpc/rpc.ts';
import type { OpenChannel } from './channel.ts';

/** `refused`: the host was started again and needs its new URL; nothing is retried. */
export type ConnectionStatus = 'connected' | 'reconnecting' | 'refused';

export interface ConnectionEvents extends SessionEvents {
  status(status: ConnectionStatus): void;
  /** A command of the native menu. Never comes in a browser. */
  hostCommand(command: HostCommand): void;
}

export interface Connection {
  /** Every call rejects with ErrorData. */
  readonly api: AppApi;
  readonly status: ConnectionStatus;
  /** Adds a listener; returns a function that removes it. */
  on<E extends keyof ConnectionEvents>(
    event: E,
    listener: ConnectionEvents[E],
  ): () => void;
  close(): void;
}

const RETRY_SHORTEST_MS = 100;
const RETRY_LONGEST_MS = 2_000;

const CONNECTION_LOST = 'CONNECTION_LOST';

type Peer = BirpcReturn<AppApi, SessionEvents, false>;
type ResultSchemas = Partial<Record<keyof AppApi, z.ZodType>>;
type AnyListener = (...args: never[]) => void;

export class HostConnection implements Connection {
  readonly api: AppApi;
  readonly #open: OpenChannel;
  readonly #ended = new AbortController();
  readonly #listeners = new Map<keyof ConnectionEvents, Set<AnyListener>>();
  readonly #watched = new Set<string>();
  readonly #firstTry: Promise<void>;
  #status: ConnectionStatus = 'reconnecting';
  #line: { readonly peer: Peer; readonly channel: RpcChannel } | undefined;

  constructor(open: OpenChannel, bridge: HostBridge | undefined) {
    this.#open = open;
    this.api = this.#makeApi();
    const stopCommands = bridge?.onCommand((command) =>
      this.#emit('hostCommand', command),
    );
    this.#ended.signal.addEventListener('abort', () => stopCommands?.());
    this.#firstTry = this.#dial({ again: false });
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** Resolves when the line first opens, or the host refuses. */
  settled(): Promise<void> {
    return this.#firstTry;
  }

  on<E extends keyof ConnectionEvents>(
    event: E,
    listener: ConnectionEvents[E],
  ): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#ended.abort();
    this.#line?.channel.close();
  }

  /** Retries until the line is open, the host refuses, or the connection is closed. */
  async #dial({ again }: { readonly again: boolean }): Promise<void> {
    const { signal } = this.#ended;
    const pauses = new GrowingPause({
      first: RETRY_SHORTEST_MS,
      longest: RETRY_LONGEST_MS,
    });
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      if (!isFirst) await wait(pauses.next(), signal);
      const opening = await this.#open(signal);
      if (opening.kind === 'refused') return this.#setStatus('refused');
      if (opening.kind === 'unreachable') continue;
      if (signal.aborted) return opening.channel.close();
      this.#use(opening.channel);
      if (again && this.#line !== undefined) await this.#watchAgain();
      return;
    }
  }

  #use(channel: RpcChannel): void {
    const told =
      <E extends keyof SessionEvents>(event: E) =>
      (...args: Parameters<ConnectionEvents[E]>): void =>
        this.#emit(event, ...args);
    const peer: Peer = createBirpc<AppApi, SessionEvents, false>(
      {
        runChanged: told('runChanged'),
        records: told('records'),
        caughtUp: told('caughtUp'),
        notice: told('notice'),
        nodesChanged: told('nodesChanged'),
        dataSetsChanged: told('dataSetsChanged'),
        networkChanged: told('networkChanged'),
        sweepsChanged: told('sweepsChanged'),
        alert: told('alert'),
        settingsChanged: told('settingsChanged'),
        historyPurged: told('historyPurged'),
        questionsChanged: told('questionsChanged'),
        resync: told('resync'),
        terminalOutput: (...args) => this.#emitAndWait('terminalOutput', ...args),
        terminalEnded: (...args) => this.#emitAndWait('terminalEnded', ...args),
      },
      {
        proxify: false,
        // No deadline here: main limits each call, and a dead line closes.
        timeout: -1,
        post: (text: string) => channel.post(text),
        on: (listener) => onDecodedMessage(channel, listener),
        serialize: encodeRpcMessage,
      },
    );
    this.#line = { peer, channel };
    this.#setStatus('connected');
    channel.onClose(() => {
      this.#line = undefined;
      peer.$rejectPendingCalls(({ reject }) => reject(connectionLost()));
      peer.$close();
      if (this.#ended.signal.aborted) return;
      this.#setStatus('reconnecting');
      void this.#dial({ again: true });
    });
  }

  async #watchAgain(): Promise<void> {
    // A run that is gone meanwhile has no records to miss; `resync` updates the rest.
    await Promise.allSettled([...this.#watched].map((run) => this.api.watch(run)));
    if (this.#line !== undefined) this.#emit('resync');
  }

  #makeApi(): AppApi {
    const names = Object.keys(rpcArguments) as (keyof AppApi)[];
    const calls = Object.fromEntries(
      names.map((name) => [name, (...input: unknown[]) => this.#call(name, input)]),
    ) as unknown as AppApi;
    return {
      ...calls,
      watch: async (run) => {
        this.#watched.add(run);
        return await calls.watch(run).catch((error: ErrorData) => {
          // Main refused it, so there is nothing to watch again.
          if (error.code !== CONNECTION_LOST) this.#watched.delete(run);
          throw error;
        });
      },
      unwatch: async (run) => {
        this.#watched.delete(run);
        // Without a line nothing is watched.
        if (this.#line !== undefined) await calls.unwatch(run);
      },
    };
  }

  async #call(method: keyof AppApi, args: unknown[]): Promise<unknown> {
    if (this.#line === undefined) throw connectionLost();
    // In JSON it would be null, which is a value.
    const last = args.findLastIndex((value) => value !== undefined);
    const given = args.slice(0, last + 1);
    let result: unknown;
    try {
      result = await this.#line.peer.$callRaw({ method, args: given });
    } catch (error) {
      throw toErrorData(error);
    }
    requireResult(method, result);
    return result;
  }

  #setStatus(status: ConnectionStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#emit('status', status);
  }

  #emit<E extends keyof ConnectionEvents>(
    event: E,
    ...args: Parameters<ConnectionEvents[E]>
  ): void {
    void this.#emitted(event, args);
  }

  /** The push is answered once all listeners have processed it. */
  async #emitAndWait<E extends keyof ConnectionEvents>(
    event: E,
    ...args: Parameters<ConnectionEvents[E]>
  ): Promise<void> {
    await Promise.all(this.#emitted(event, args));
  }

  #emitted<E extends keyof ConnectionEvents>(
    event: E,
    args: Parameters<ConnectionEvents[E]>,
  ): unknown[] {
    return [...(this.#listeners.get(event) ?? [])].map((listener) =>
      (listener as (...given: Parameters<ConnectionEvents[E]>) => unknown)(...args),
    );
  }
}

function requireResult(method: keyof AppApi, result: unknown): void {
  const schema: z.ZodType | undefined = (rpcResults as ResultSchemas)[method];
  const parsed = schema?.safeParse(result);
  if (parsed?.error === undefined) return;
  const error: ErrorData = {
    code: 'RPC_RESULT_INVALID',
    kind: 'failure',
    message: `Gradwire answers ${method} as this page does not expect: ${plainIssue(parsed.error.issues[0]!)}`,
    next: 'Reload the page so that its version matches Gradwire’s.',
  };
  throw error;
}

function connectionLost(): ErrorData {
  return {
    code: CONNECTION_LOST,
    kind: 'failure',
    message: 'the connection to Gradwire was lost',
    next: 'The page reconnects by itself while Gradwire is running; then try again.',
  };
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
