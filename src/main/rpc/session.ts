/**
 * One renderer's session with the core: its calls, the pushes it may see, and the runs it watches.
 * Only calls of AppApi reach the core, and only with arguments that fit `rpcArguments`. A session
 * ends with its channel and leaves nothing behind; it never ends a run.
 */
import { createBirpc, type BirpcReturn } from 'birpc';
import type { z } from 'zod';
import { plainIssue } from '../../shared/checks/plain-issue.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { rpcArguments } from '../../shared/rpc/rpc-arguments.ts';
import {
  encodeRpcMessage,
  onDecodedMessage,
  type RpcChannel,
  type SessionEvents,
} from '../../shared/rpc/rpc-wire.ts';
import type { AppApi, AppEvents, CoreApi } from '../../shared/rpc/rpc.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';
import type { TerminalApi, TerminalEvents } from '../../shared/rpc/terminal.ts';
import { nearest } from '../../shared/words/nearest.ts';

/**
 * Most records in flight to one renderer: one is about half a kilobyte of JSON, so these are about
 * 8 MiB.
 */
export const MAX_RECORDS_IN_FLIGHT = 16_384;

/** The terminals of one session. */
export interface SessionTerminals {
  readonly api: TerminalApi;
  /** Ends all of them. */
  close(): void;
}

/** The part of the core that RPC needs. */
export interface ServedCore {
  readonly api: CoreApi;
  /** Returns the terminals of one session; only it receives their output. */
  terminals(events: TerminalEvents): SessionTerminals;
  onEvent(
    listener: <E extends keyof AppEvents>(
      event: E,
      ...args: Parameters<AppEvents[E]>
    ) => void,
  ): () => void;
}

/** All sessions of one core, so that they share its watches. */
export class Sessions {
  readonly #core: ServedCore;
  /**
   * The sessions that watch each run. The core pushes a run's records while any watches it:
   * one that leaves must not silence the others.
   */
  readonly #watchers = new Map<string, Set<RpcChannel>>();
  readonly #channels = new Set<RpcChannel>();

  constructor(core: ServedCore) {
    this.#core = core;
  }

  get size(): number {
    return this.#channels.size;
  }

  /** Serves the core over this channel until it closes. */
  serve(channel: RpcChannel): void {
    // Bypasses the flow control of pushes: terminals have their own flow control, and none of
    // their output may be dropped.
    const terminals = this.#core.terminals({
      terminalOutput: async (...args) => {
        await renderer.$callRaw({ method: 'terminalOutput', args });
      },
      terminalEnded: async (...args) => {
        await renderer.$callRaw({ method: 'terminalEnded', args });
      },
    });
    const calls = gateCalls(this.#core.api, {
      ...terminals.api,
      watch: (run) => this.#watch(channel, run),
      unwatch: (run) => this.#unwatch(channel, run),
    });
    const renderer = createBirpc<SessionEvents, object, false>(
      {},
      {
        proxify: false,
        // A push is answered or its channel closes: no timer is needed.
        timeout: -1,
        post: (text: string) => channel.post(text),
        on: (listener) => onDecodedMessage(channel, listener),
        serialize: encodeRpcMessage,
        resolver: (name) =>
          calls.get(name) ?? (() => Promise.reject(unknownCall(name))),
        // With a name, this is an answer that cannot become JSON; the caller gets the
        // error instead.
        onGeneralError: (_error, name) => name !== undefined,
      },
    );

    const push = pushesTo(renderer);
    const stop = this.#core.onEvent((event, ...args) => {
      if (event !== 'records') return push(1, event, ...args);
      const [run, entries] = args as Parameters<AppEvents['records']>;
      if (this.#watchers.get(run)?.has(channel) === true)
        push(entries.length, 'records', run, entries);
    });

    this.#channels.add(channel);
    channel.onClose(() => {
      this.#channels.delete(channel);
      stop();
      terminals.close();
      renderer.$close();
      for (const run of this.#watchers.keys()) void this.#unwatch(channel, run);
    });
  }

  /** Closes every channel. */
  close(): void {
    for (const channel of this.#channels) channel.close();
  }

  /**
   * Registers the session before the core is asked, so that it also gets records pushed
   * before the answer arrives (sequence numbers show which ones it already has).
   */
  async #watch(session: RpcChannel, run: string): Promise<RunDetail> {
    const watchers = this.#watchers.get(run) ?? new Set();
    this.#watchers.set(run, watchers);
    const joined = !watchers.has(session);
    watchers.add(session);
    try {
      return await this.#core.api.watch(run);
    } catch (error) {
      if (joined) await this.#unwatch(session, run);
      throw error;
    }
  }

  async #unwatch(session: RpcChannel, run: string): Promise<void> {
    const watchers = this.#watchers.get(run);
    if (watchers?.delete(session) !== true || watchers.size > 0) return;
    this.#watchers.delete(run);
    await this.#core.api.unwatch(run);
  }
}

type Push = <E extends keyof SessionEvents>(
  records: number,
  event: E,
  ...args: Parameters<SessionEvents[E]>
) => void;

/**
 * Pushes to one renderer with flow control: it answers every push that it has processed. While
 * too much is unanswered, pushes are dropped, and once everything has been answered the renderer
 * is asked to read again what it shows. So memory is bounded whatever the renderer does, and
 * nothing is lost: the store has everything that goes through here.
 */
function pushesTo(renderer: BirpcReturn<SessionEvents, object, false>): Push {
  let inFlight = 0;
  let leftOut = false;
  const push: Push = (records, event, ...args) => {
    // Notices and catch-ups are in no store: a page that fell behind could not read them
    // again. There are few of them.
    const isStored = event !== 'notice' && event !== 'caughtUp';
    if (isStored) {
      // A single push beyond the limit is still sent if nothing is in flight.
      leftOut ||= inFlight > 0 && inFlight + records > MAX_RECORDS_IN_FLIGHT;
      if (leftOut) return;
      inFlight += records;
    }
    const taken = (): void => {
      if (isStored) inFlight -= records;
      if (!isStored || inFlight > 0 || !leftOut) return;
      leftOut = false;
      push(1, 'resync');
    };
    // Any kind of answer counts: a renderer that failed on a push has received it.
    renderer.$callRaw({ method: event, args }).then(taken, taken);
  };
  return push;
}

type Call = (...input: unknown[]) => Promise<unknown>;

/**
 * The functions that a session offers, by name: each checks its arguments, then calls
 * the session's own version or the api's. Invalid arguments reject with
 * `RPC_INVALID_ARGUMENTS` before anything happens.
 */
function gateCalls(
  api: CoreApi,
  own: TerminalApi & Partial<CoreApi>,
): ReadonlyMap<string, Call> {
  const names = Object.keys(rpcArguments) as (keyof AppApi)[];
  const offered: AppApi = { ...api, ...own };
  return new Map(
    names.map((name) => [
      name,
      async (...input) => {
        const parsed = rpcArguments[name].safeParse(input);
        if (!parsed.success) throw invalidArguments(name, parsed.error.issues[0]!);
        // The schemas are those of AppApi's own parameters, name by name.
        return await (offered[name] as Call).apply(api, parsed.data);
      },
    ]),
  );
}

function unknownCall(name: string): GradwireError {
  const suggestion = nearest(name, Object.keys(rpcArguments));
  return inputError('RPC_UNKNOWN_CALL', `there is no call "${name}"`, {
    place: 'rpc',
    next:
      suggestion === undefined
        ? 'Reload the page so that its version matches Gradwire’s.'
        : `Did you mean "${suggestion}"?`,
  });
}

function invalidArguments(name: string, issue: z.core.$ZodIssue): GradwireError {
  const [position, ...inside] = issue.path;
  const where =
    typeof position === 'number'
      ? ['argument', position + 1, ...(inside.length > 0 ? [inside.join('.')] : [])]
      : ['arguments'];
  return inputError(
    'RPC_INVALID_ARGUMENTS',
    `${name}: ${where.map(String).join(' ')}: ${plainIssue(issue)}`,
    { place: 'rpc', next: 'Correct the value and try again.' },
  );
}
