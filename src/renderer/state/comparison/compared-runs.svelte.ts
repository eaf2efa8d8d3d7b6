/**
 * The runs of a comparison, read from the host side by side; runs that go on are read again, at
 * most once every two seconds each.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { ComparedRun } from '../../../shared/comparison/compared-run.ts';
import type { Connection } from '../host/host-connection.ts';

const READ_AGAIN_MS = 2000;

/** A run that could not be read, and why. */
export interface UnreadRun {
  readonly id: string;
  readonly error: ErrorData;
}

export class ComparedRuns {
  readonly #connection: Connection;
  readonly #stops: (() => void)[];
  readonly #waiting = new SvelteMap<string, ReturnType<typeof setTimeout>>();
  readonly #reading = new SvelteSet<string>();
  #ids = $state.raw<readonly string[]>([]);
  readonly #known = new SvelteMap<string, ComparedRun>();
  readonly #errors = new SvelteMap<string, ErrorData>();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#stops = [
      connection.on('runChanged', ({ id }) => this.#later(id)),
      connection.on('resync', () => {
        for (const id of this.#ids) void this.#read(id);
      }),
    ];
  }

  /** Runs that have been read, in the order of their ids. */
  get runs(): readonly ComparedRun[] {
    return this.#ids.flatMap((id) => this.#known.get(id) ?? []);
  }

  get unread(): readonly UnreadRun[] {
    return this.#ids.flatMap((id) => {
      const error = this.#errors.get(id);
      return error === undefined ? [] : [{ id, error }];
    });
  }

  /** Whether all have been read, or could not be. */
  get isComplete(): boolean {
    return this.#ids.every((id) => this.#known.has(id) || this.#errors.has(id));
  }

  show(ids: readonly string[]): void {
    const before = this.#ids;
    this.#ids = ids;
    // A run that was left out for a while may have gone on.
    const added = ids.filter((id) => !before.includes(id) || !this.#known.has(id));
    for (const id of added) void this.#read(id);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#ids = [];
  }

  #later(id: string): void {
    if (!this.#ids.includes(id) || this.#waiting.has(id)) return;
    this.#waiting.set(
      id,
      setTimeout(() => {
        this.#waiting.delete(id);
        void this.#read(id);
      }, READ_AGAIN_MS),
    );
  }

  async #read(id: string): Promise<void> {
    if (this.#reading.has(id)) return;
    this.#reading.add(id);
    this.#errors.delete(id);
    try {
      const run = await this.#connection.api.comparedRun(id);
      this.#known.set(id, run);
    } catch (thrown) {
      const error = toErrorData(thrown);
      this.#errors.set(id, error);
    } finally {
      this.#reading.delete(id);
    }
  }
}
