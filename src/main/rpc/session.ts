/**
 * One renderer's session with the core: its gated calls, the pushes it may see, and the
 * runs it watches. A session ends with its channel and leaves nothing behind; it never
 * ends a run.
 */
import { createBirpc } from 'birpc';
import {
  encodeRpcMessage,
  onDecodedMessage,
  type SessionEvents,
} from '../../shared/rpc/rpc-wire.ts';
import type { AppEvents, CoreApi } from '../../shared/rpc/rpc.ts';
import type { TerminalApi, TerminalEvents } from '../../shared/rpc/terminal.ts';
import { gateCalls, unknownCall } from './call-gate.ts';
import type { RpcChannel } from './channel.ts';
import { PushWindow } from './push-window.ts';
import { WatchRegister } from './watch-register.ts';

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
  readonly #watches: WatchRegister;
  readonly #channels = new Set<RpcChannel>();

  constructor(core: ServedCore) {
    this.#core = core;
    this.#watches = new WatchRegister(core.api);
  }

  get size(): number {
    return this.#channels.size;
  }

  /** Serves the core over this channel until it closes. */
  serve(channel: RpcChannel): void {
    const watches = this.#watches;
    // Bypasses the push window: terminals have their own flow control, and none of
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
      watch: (run) => watches.watch(channel, run),
      unwatch: (run) => watches.unwatch(channel, run),
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

    const window = new PushWindow(() => push(1, 'resync'));
    const push = <E extends keyof SessionEvents>(
      records: number,
      event: E,
      ...args: Parameters<SessionEvents[E]>
    ): void => {
      // Notices and catch-ups are in no store: a page that fell behind could not read them
      // again. There are few of them.
      const isStored = event !== 'notice' && event !== 'caughtUp';
      if (isStored && !window.admit(records)) return;
      const taken = (): void => {
        if (isStored) window.taken(records);
      };
      // Any kind of answer counts: a renderer that failed on a push has received it.
      renderer.$callRaw({ method: event, args }).then(taken, taken);
    };
    const stop = this.#core.onEvent((event, ...args) => {
      if (event !== 'records') return push(1, event, ...args);
      const [run, entries] = args as Parameters<AppEvents['records']>;
      if (watches.isWatched(channel, run))
        push(entries.length, 'records', run, entries);
    });

    this.#channels.add(channel);
    channel.onClose(() => {
      this.#channels.delete(channel);
      stop();
      terminals.close();
      renderer.$close();
      void watches.leave(channel);
    });
  }

  /** Closes every channel. */
  close(): void {
    for (const channel of this.#channels) channel.close('done');
  }
}
