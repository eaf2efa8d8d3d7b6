/** A host for classes of the page's state: its answers come, and its events are told, when a test says so. */
import type {
  Connection,
  ConnectionEvents,
} from '../../../src/renderer/state/host/host-connection.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';

/** A call that waits for its answer. */
export interface Asked {
  readonly args: readonly unknown[];
  answer(value: unknown): Promise<void>;
  fail(error: unknown): Promise<void>;
}

type Listener = (...args: unknown[]) => void;

/** Lets everything run that waits for nothing but its turn. */
export const settle = (): Promise<void> => new Promise(setImmediate);

export class ScriptedHost {
  readonly connection: Connection;
  readonly #asked = new Map<string, Asked[]>();
  readonly #listeners = new Map<string, Listener[]>();

  constructor() {
    const api = new Proxy({} as AppApi, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          this.#ask(String(name), args),
    });
    this.connection = {
      api,
      status: 'connected',
      on: (event, listener) => {
        const others = this.#listeners.get(event) ?? [];
        this.#listeners.set(event, [...others, listener as Listener]);
        return () => {
          const all = this.#listeners.get(event) ?? [];
          this.#listeners.set(
            event,
            all.filter((one) => one !== (listener as Listener)),
          );
        };
      },
      close: () => undefined,
    };
  }

  /** Tells an event to whoever listens. */
  tell<E extends keyof ConnectionEvents>(
    event: E,
    ...args: Parameters<ConnectionEvents[E]>
  ): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...args);
  }

  /** Calls of a name that wait for their answers, oldest first. */
  waiting(name: keyof AppApi & string): readonly Asked[] {
    return this.#asked.get(name) ?? [];
  }

  /** The oldest of them; an error if there is none. */
  next(name: keyof AppApi & string): Asked {
    const asked = this.#asked.get(name)?.[0];
    if (asked === undefined) throw new Error(`nobody has asked for ${name}`);
    return asked;
  }

  #ask(name: string, args: readonly unknown[]): Promise<unknown> {
    const { promise, reject, resolve } = Promise.withResolvers<unknown>();
    const all = this.#asked.get(name) ?? [];
    this.#asked.set(name, all);
    const take = (): void => {
      all.splice(all.indexOf(asked), 1);
    };
    const asked: Asked = {
      args,
      answer: async (value) => {
        take();
        resolve(value);
        await settle();
      },
      fail: async (error) => {
        take();
        reject(error as Error);
        await settle();
      },
    };
    all.push(asked);
    return promise;
  }
}
