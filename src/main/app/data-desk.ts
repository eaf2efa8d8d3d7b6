/**
 * The public data sets as the app shows them, and their downloads, one at a time for each
 * set.
 */
import path from 'node:path';
import type { DataSetStatus } from '../../shared/rpc/data-set-status.ts';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import {
  bytesToFetch,
  fetchSet,
  isComplete,
  publicSet,
} from '../data-sets/fetch-set.ts';
import { publicSets, type PublicSet } from '../data-sets/public-sets.ts';

export interface DataDeskOptions {
  /** The parent of the sets' directories. */
  readonly directory: string;
  /** Called when the result of `list` changes. */
  readonly changed: () => void;
}

interface Fetching {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  progress: { readonly done: number; readonly total: number };
}

export class DataDesk {
  readonly #options: DataDeskOptions;
  readonly #fetching = new Map<string, Fetching>();
  readonly #errors = new Map<string, ErrorData>();

  constructor(options: DataDeskOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly DataSetStatus[]> {
    return await Promise.all(publicSets.map((set) => this.#status(set)));
  }

  /**
   * Resolves at once; the list shows the progress.
   * @throws GradwireError `DATA_SET_UNKNOWN`
   */
  fetch(id: string): void {
    const set = publicSet(id);
    if (this.#fetching.has(id)) return;
    this.#errors.delete(id);
    const controller = new AbortController();
    const fetching: Fetching = {
      controller,
      progress: { done: 0, total: bytesToFetch(set) },
      ended: this.#fetch(set, controller.signal),
    };
    this.#fetching.set(id, fetching);
    this.#options.changed();
  }

  /** Bytes that have arrived are kept for the next attempt. */
  cancel(id: string): void {
    this.#fetching.get(id)?.controller.abort();
  }

  /** Cancels all downloads. */
  async close(): Promise<void> {
    const all = [...this.#fetching.values()];
    for (const { controller } of all) controller.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #fetch(set: PublicSet, signal: AbortSignal): Promise<void> {
    try {
      await fetchSet(set, {
        directory: this.#directory(set),
        signal,
        progress: ({ done, total }) => {
          this.#fetching.get(set.id)!.progress = { done, total };
          this.#options.changed();
        },
      });
    } catch (error) {
      if (!signal.aborted) this.#errors.set(set.id, toErrorData(error));
    } finally {
      this.#fetching.delete(set.id);
      this.#options.changed();
    }
  }

  async #status(set: PublicSet): Promise<DataSetStatus> {
    const { id, source, title, workload } = set;
    const directory = this.#directory(set);
    const fetching = this.#fetching.get(id);
    const isHere = fetching === undefined && (await isComplete(set, directory));
    return {
      id,
      title,
      source,
      dataset: workload.dataset,
      bytes: bytesToFetch(set),
      data: isHere ? path.join(directory, set.data ?? '') : undefined,
      progress: fetching?.progress,
      error: this.#errors.get(id),
    };
  }

  #directory(set: PublicSet): string {
    return path.join(this.#options.directory, set.id);
  }
}
