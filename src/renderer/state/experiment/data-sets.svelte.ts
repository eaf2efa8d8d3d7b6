/** The public data sets, as reported by the host. */
import type { DataSetStatus } from '../../../shared/rpc/data-set-status.ts';
import type { Connection } from '../host/host-connection.ts';
import type { Toasts } from '../page/toasts.svelte.ts';

export class DataSets {
  readonly #connection: Connection;
  readonly #toasts: Toasts;
  #sets = $state.raw<readonly DataSetStatus[]>([]);
  readonly #stop: () => void;

  constructor(connection: Connection, toasts: Toasts) {
    this.#connection = connection;
    this.#toasts = toasts;
    this.#stop = connection.on('dataSetsChanged', (sets) => {
      this.#sets = sets;
    });
  }

  /** The sets that fit a spec's data set. */
  of(dataset: unknown): readonly DataSetStatus[] {
    return this.#sets.filter((set) => set.dataset === dataset);
  }

  async load(): Promise<void> {
    await this.#try(async () => {
      this.#sets = await this.#connection.api.dataSets();
    });
  }

  async fetch(id: string): Promise<void> {
    await this.#try(() => this.#connection.api.fetchDataSet(id));
  }

  async cancel(id: string): Promise<void> {
    await this.#try(() => this.#connection.api.cancelDataSet(id));
  }

  close(): void {
    this.#stop();
  }

  async #try(ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      this.#toasts.error(error);
    }
  }
}
